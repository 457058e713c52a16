/** Who answers in the end, whatever becomes of it meanwhile. */
export interface Server {
  /** One request, repeated until it is answered for good. */
  call(method: string, path: string, key: string, body?: object): Promise<Answered>;
}

export interface Answered {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
  body: any;
}

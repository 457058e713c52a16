/** One node of the call tree of V8's profiler; `hitCount` samples ended in it. */
export interface ProfileNode {
  id: number;
  children?: number[];
  callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  hitCount: number;
}

interface Message {
  id: number;
  result?: { profile?: { nodes: ProfileNode[] } };
  error?: { message: string };
}

/** A connection to the inspector of the Worker that a workerd serves. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (message: Message) => void>();
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(String(data)) as Message;
      this.#pending.get(message.id)?.(message);
      this.#pending.delete(message.id);
    });
  }

  static async open(port: number): Promise<Inspector> {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? "");
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", reject);
    });
    return new Inspector(socket);
  }

  /** `work` under V8's sampling profiler. */
  async profile(intervalUs: number, work: () => Promise<void>): Promise<ProfileNode[]> {
    await this.#call("Profiler.enable");
    await this.#call("Profiler.setSamplingInterval", { interval: intervalUs });
    await this.#call("Profiler.start");
    await work();
    const { result } = await this.#call("Profiler.stop");
    return result?.profile?.nodes ?? [];
  }

  close(): void {
    this.#socket.close();
  }

  async #call(method: string, params: object = {}): Promise<Message> {
    const id = (this.#calls += 1);
    const message = await new Promise<Message>((resolve) => {
      this.#pending.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    if (message.error) throw new Error(`${method}: ${message.error.message}`);
    return message;
  }
}

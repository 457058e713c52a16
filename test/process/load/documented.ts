type Responses = { [status: string]: { description: string } };
type Document = { paths: { [path: string]: { [method: string]: { responses: Responses } } } };

/** What the server says of itself in /openapi.json: with which codes a request may be refused. */
export class Documented {
  readonly #places: { pattern: RegExp; methods: { [method: string]: { responses: Responses } } }[];

  constructor(document: Document) {
    this.#places = Object.entries(document.paths).map(([path, methods]) => {
      return { pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`), methods };
    });
  }

  static async of(url: string): Promise<Documented> {
    return new Documented((await (await fetch(`${url}/openapi.json`)).json()) as Document);
  }

  has(method: string, path: string, status: number, code: string): boolean {
    const name = method.toLowerCase();
    const [plain = ""] = path.split("?");
    return this.#places.some(({ pattern, methods }) => {
      const said = pattern.test(plain) ? methods[name]?.responses[status]?.description : undefined;
      return said?.includes(`\`${code}\``) ?? false;
    });
  }
}

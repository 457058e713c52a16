import { SaxesParser } from "saxes";

export interface Element {
  /** Without its prefix. */
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  /** All text directly inside, trimmed. */
  text: string;
}

/** The root of an XML document; throws when it is not well-formed. */
export function parseXml(source: string): Element {
  const parser = new SaxesParser({ xmlns: false });
  const document: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [document];
  const top = () => open[open.length - 1] as Element;
  parser.on("opentag", ({ name, attributes }) => {
    const local = name.slice(name.indexOf(":") + 1);
    const element = { name: local, attributes: { ...attributes }, children: [], text: "" };
    top().children.push(element);
    open.push(element);
  });
  const addText = (text: string) => (top().text += text);
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    const element = open.pop() as Element;
    element.text = element.text.trim();
  });
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(source).close();
  const root = document.children[0];
  if (root === undefined) throw new Error("an XML document without an element");
  return root;
}

export function childrenOf(element: Element, ...names: string[]): Element[] {
  return element.children.filter(({ name }) => names.includes(name));
}

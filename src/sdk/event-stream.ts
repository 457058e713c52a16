/** One event of a stream, as far as it is used: its id, or the one before's; and its data, or none. */
export interface StreamEvent {
  id: string;
  data: string | null;
}

/** characters; an event that goes on beyond this is none of the API's. */
const LONGEST_EVENT = 16_777_216;

/**
 * Reads `text/event-stream` (WHATWG HTML, "Server-sent events") from pieces cut anywhere. An event without
 * data is told too: it says where the stream begins. Throws a RangeError when an event has no end.
 */
export class EventStreamParser {
  #line = "";
  #data: string[] = [];
  #id = "";
  #told = true;
  #chars = 0;
  /** The piece before ended with CR: a LF that begins the next one belongs to it. */
  #afterCr = false;
  #first = true;

  push(piece: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    let text = piece;
    if (this.#first && text !== "") {
      this.#first = false;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    if (this.#afterCr && text.startsWith("\n")) text = text.slice(1);
    if (piece !== "") this.#afterCr = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() as string;
    for (const line of lines) {
      const event = this.#take(this.#line + line);
      this.#line = "";
      if (event !== null) events.push(event);
    }
    this.#line += rest;
    if (this.#chars + this.#line.length > LONGEST_EVENT)
      throw new RangeError("An event has no end");
    return events;
  }

  #take(line: string): StreamEvent | null {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") {
      this.#data.push(value);
      this.#chars += value.length;
    } else if (field === "id" && !value.includes("\0")) {
      this.#id = value;
      this.#told = false;
    }
    return null;
  }

  #dispatch(): StreamEvent | null {
    const data = this.#data.length === 0 ? null : this.#data.join("\n");
    const told = this.#told;
    this.#data = [];
    this.#chars = 0;
    this.#told = true;
    return data === null && told ? null : { id: this.#id, data };
  }
}

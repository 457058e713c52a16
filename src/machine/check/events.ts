import { isJsonObject } from "../../base/json.ts";
import type { JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import { codeOf } from "../../fingerprint/kernel.ts";
import { descriptorFault, eventTypeFault, own } from "../dialect.ts";
import type { EventTypeFault } from "../dialect.ts";
import type { ErrorCode } from "./codes.ts";
import type { Check } from "./context.ts";
import { quoted } from "./problems.ts";
import { checkTemplate } from "./templates.ts";

const FAULT_CODES: Record<EventTypeFault, ErrorCode> = {
  empty: "invalid_event_type",
  too_long: "invalid_event_type",
  surrogate: "invalid_event_type",
  reserved: "reserved_event_type",
  wildcard: "invalid_wildcard",
};

/** A key of `on`. Whether it is one that can be waited for. */
export function checkDescriptor(check: Check, descriptor: string, pointer: string): boolean {
  const fault = descriptorFault(descriptor);
  if (fault === null) {
    if (!descriptor.endsWith("*")) noteEventType(check, descriptor, pointer);
    return true;
  }
  if (fault !== "surrogate") {
    check.errors.add(pointer, FAULT_CODES[fault], () => descriptorMessage(descriptor, fault));
  }
  return false;
}

function descriptorMessage(descriptor: string, fault: EventTypeFault): string {
  switch (fault) {
    case "empty":
      return "An event has a type; write `always` for what needs no event.";
    case "wildcard":
      return `${quoted(descriptor)} never matches: a wildcard is \`*\` alone or ends a prefix, as in \`order.*\`.`;
    case "reserved":
      return `${quoted(descriptor)} is reserved: use \`onDone\`, \`onError\` or \`after\`, and begin no type with \`xstate.\`, \`@\` or \`!\`.`;
    default:
      return typeMessage(descriptor, fault);
  }
}

function typeMessage(type: string, fault: EventTypeFault): string {
  switch (fault) {
    case "empty":
      return "An event's `type` cannot be empty.";
    case "too_long":
      return `An event's type has at most ${LIMITS.eventTypeChars} characters (limit eventTypeChars).`;
    case "surrogate":
      return "An event's type must be well-formed text.";
    case "reserved":
      return `${quoted(type)} is reserved: no type may begin with \`xstate.\`, \`@\` or \`!\`.`;
    case "wildcard":
      return `${quoted(type)} is a pattern; an event that is sent has one type, without \`*\`.`;
  }
}

/** The event of raise, emit or sendTo: a static type, and templates beside it. */
export function checkEvent(check: Check, event: JsonValue, pointer: string, taken: boolean): void {
  if (!isJsonObject(event) || Object.hasOwn(event, "@expr")) {
    check.errors.add(
      pointer,
      "invalid_event",
      'An event is an object with a `type`: {"type": "paid", "amount": {"@expr": "context.amount"}}.',
    );
    return;
  }
  const type = own(event, "type");
  const place = at(pointer, "type");
  if (typeof type !== "string") {
    check.errors.add(
      type === undefined ? pointer : place,
      "invalid_event",
      "An event's `type` must be a string, known before anything runs.",
    );
  } else {
    const fault = eventTypeFault(type);
    if (fault === null) {
      if (taken) noteEventType(check, type, place);
    } else if (fault !== "surrogate") {
      check.errors.add(place, FAULT_CODES[fault], () => typeMessage(type, fault));
    }
  }
  for (const [key, member] of Object.entries(event)) {
    if (key !== "type") checkTemplate(check, member, at(pointer, key));
  }
}

function noteEventType(check: Check, type: string, pointer: string): void {
  if (!check.eventTypes.has(type)) check.eventTypes.set(type, pointer);
}

/** Histories are compared by 32-bit codes of types, so two types of a machine may not share one. */
export function checkEventCodes(check: Check): void {
  const typeOfCode = new Map<number, string>();
  for (const [type, pointer] of check.eventTypes) {
    const code = codeOf(type);
    const other = typeOfCode.get(code);
    if (other === undefined) {
      typeOfCode.set(code, type);
      continue;
    }
    check.errors.add(
      pointer,
      "event_code_clash",
      () =>
        `The event types ${quoted(type)} and ${quoted(other)} have the same 32-bit code; rename one of them.`,
    );
  }
}

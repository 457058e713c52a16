import { LIMITS } from "../../base/limits.ts";

export interface ExpressionScope {
  context: unknown;
  event: unknown;
  input: unknown;
  params: unknown;
  self: { id: string; definitionId: string; seq: number };
  /** ms; the record's time. */
  now: number;
  uid: string;
  /** JSON pointer of the expression in its definition. */
  pointer: string;
  /** Where the steps of the evaluation are added up, for those who bound several together. */
  meter?: { steps: number };
}

/** Why something has no value. `&&`, `||`, all() and exists() may absorb it, as CEL has it. */
export class Fault extends Error {
  readonly #sentence: () => string;

  /** The sentence is put together only when somebody wants it: most are absorbed. */
  constructor(sentence: () => string) {
    super();
    this.name = "Fault";
    this.#sentence = sentence;
  }

  get sentence(): string {
    return this.#sentence();
  }
}

/** Not a Fault, because nothing may absorb it. */
export class BudgetSpent extends Error {}

/** An exception takes the time of some fifty operators. */
const STEPS_PER_ABSORBED_FAULT = 50;

/** One run of a compiled expression: all state that it has. */
export class Run {
  readonly scope: ExpressionScope;
  /** Variables of loops and of cel.bind(), by slot. */
  readonly locals: unknown[] = [];
  #stepsLeft: number = LIMITS.expressionBudget;
  #draws = 0;

  constructor(scope: ExpressionScope) {
    this.scope = scope;
  }

  get stepsSpent(): number {
    return LIMITS.expressionBudget - this.#stepsLeft;
  }

  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new BudgetSpent();
  }

  /** For work on texts: 16 characters cost one step. */
  spendOnText(characters: number): void {
    this.spend(characters >> 4);
  }

  /** The number, from 0, of this call of random() or uuid() within the evaluation. */
  nextDraw(): number {
    return this.#draws++;
  }

  /** The value, or the Fault that came instead of it. */
  attempt(code: Code): unknown {
    try {
      return code(this);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.spend(STEPS_PER_ABSORBED_FAULT);
      return error;
    }
  }
}

/** A compiled piece of an expression. */
export type Code = (run: Run) => unknown;

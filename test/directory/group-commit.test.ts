import { describe, expect, test } from "vitest";
import { GroupCommit } from "../../src/directory/group-commit.ts";
import type { Ledger } from "../../src/directory/group-commit.ts";

/** A ledger of numbers whose transactions are undone by a throw, and which is durable when told so. */
class Numbers implements Ledger {
  kept: number[] = [];
  events: string[] = [];
  release: () => void = () => {};
  broken = false;

  transaction<T>(closure: () => T): T {
    const before = [...this.kept];
    try {
      return closure();
    } catch (error) {
      this.kept = before;
      throw error;
    }
  }

  committed(): void {
    this.events.push(`committed ${this.kept.length}`);
  }

  undone(): void {
    this.events.push(`undone to ${this.kept.length}`);
  }

  durable(): Promise<void> {
    if (this.broken) return Promise.reject(new Error("The disk is gone"));
    return new Promise((resolve) => (this.release = resolve));
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

describe("a group", () => {
  test("takes what came while the one before was made durable", async () => {
    const numbers = new Numbers();
    const group = new GroupCommit(numbers, 100);
    const add = (n: number) => group.add(() => numbers.kept.push(n));
    await add(1);
    const others = [2, 3, 4].map(add);
    await turn();
    await turn();
    expect(numbers.kept).toEqual([1]);
    numbers.release();
    expect(await Promise.all(others)).toEqual([2, 3, 4]);
    expect(group.commits).toBe(2);
    expect(numbers.events).toEqual(["committed 1", "committed 4"]);
  });

  test("keeps all but those that fail, each of which hears why", async () => {
    const numbers = new Numbers();
    const group = new GroupCommit(numbers, 100);
    const settled = Promise.allSettled(
      [1, 2, 3, 4].map((n) =>
        group.add(() => {
          numbers.kept.push(n);
          if (n % 2 === 0) throw new Error(`no ${n}`);
          return n;
        }),
      ),
    );
    const outcomes = (await settled).map((one) =>
      one.status === "fulfilled" ? one.value : (one.reason as Error).message,
    );
    expect(outcomes).toEqual([1, "no 2", 3, "no 4"]);
    expect(numbers.kept).toEqual([1, 3]);
  });

  test("is no larger than it may be, and none is forgotten", async () => {
    const numbers = new Numbers();
    const group = new GroupCommit(numbers, 2);
    const all = Promise.all([1, 2, 3, 4, 5].map((n) => group.add(() => numbers.kept.push(n))));
    for (let turns = 0; turns < 20; turns += 1) {
      await turn();
      numbers.release();
    }
    await all;
    expect(numbers.kept).toEqual([1, 2, 3, 4, 5]);
    expect(group.commits).toBe(3);
  });

  test("goes on after a flush that failed", async () => {
    const numbers = new Numbers();
    const group = new GroupCommit(numbers, 100);
    numbers.broken = true;
    await group.add(() => numbers.kept.push(1));
    await turn();
    numbers.broken = false;
    await group.add(() => numbers.kept.push(2));
    expect(numbers.kept).toEqual([1, 2]);
  });
});

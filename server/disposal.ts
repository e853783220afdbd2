/** What must be ended, in the opposite order of its making, whatever ends it and whatever fails on the way. */
export class Disposal {
  readonly #actions: (() => void | Promise<void>)[] = [];

  add(action: () => void | Promise<void>): void {
    this.#actions.push(action);
  }

  /** Idempotent. `onError` is told of an action that failed; the others are taken all the same. */
  async end(onError: (error: unknown) => void): Promise<void> {
    for (let action = this.#actions.pop(); action !== undefined; action = this.#actions.pop()) {
      try {
        await action();
      } catch (error) {
        onError(error);
      }
    }
  }
}

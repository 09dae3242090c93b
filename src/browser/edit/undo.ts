// Undo and redo of a form.

/** Time within which changes of one field are one step, in ms. */
const TYPING_MS = 1000

/** The states of a form, oldest first. A state is its values, as text. */
export class UndoHistory {
  private readonly states: string[]
  private at = 0
  private last: { field: string; time: number } = { field: '', time: 0 }

  constructor(state: string) {
    this.states = [state]
  }

  get canUndo(): boolean {
    return this.at > 0
  }

  get canRedo(): boolean {
    return this.at < this.states.length - 1
  }

  /** Adds a state after a change of a field. Typing in one field is one step. */
  add(state: string, field: string, time = performance.now()): void {
    if (state === this.states[this.at]) return
    const isTyping = field === this.last.field && time - this.last.time < TYPING_MS && this.canUndo
    if (!isTyping || this.canRedo) this.at++
    this.states.splice(this.at, this.states.length, state)
    this.last = { field, time }
  }

  /** Returns the state before; the first one again if there is none. */
  undo(): string {
    this.last.field = ''
    return this.states[this.canUndo ? --this.at : 0]
  }

  /** Returns the state that was undone last; the newest one again if there is none. */
  redo(): string {
    this.last.field = ''
    return this.states[this.canRedo ? ++this.at : this.at]
  }
}

/** One of a crowd, as `add` has filed it. */
export interface Member<T> {
  readonly value: T
  /** Its place among the others. */
  at: number
}

/**
 * What comes and goes with every request. Kept in an array where the last member fills the gap of one that is removed: a `Set` with this
 * rate of changes leaves outgrown tables behind, which keep more than half of the finished requests alive until the next major garbage
 * collection.
 */
export class Crowd<T> {
  #members: Member<T>[] = []

  get size(): number {
    return this.#members.length
  }

  add(value: T): Member<T> {
    const member = { value, at: this.#members.length }
    this.#members.push(member)
    return member
  }

  /** May be called more than once. */
  remove(member: Member<T>): void {
    const members = this.#members
    if (members[member.at] !== member) return // a second time
    const last = members.pop()
    if (!last || last === member) return
    members[member.at] = last
    last.at = member.at
  }

  values(): T[] {
    return this.#members.map(({ value }) => value)
  }

  /** Removes all; answers what they were. */
  takeAll(): T[] {
    const values = this.values()
    this.#members = []
    return values
  }
}

import { isPromise } from '../lib/awaitable.ts'
import type { Combo } from '../types.ts'
import type { Records } from './records.ts'

/**
 * A stored combo, under its name. During a rename there are two records: the new one names the old (`from`), and is valid once the old one
 * names the new (`movedTo`). So a single write decides, also against other writers and after a crash.
 */
export interface ComboRecord extends Combo {
  from?: string
  movedTo?: string
  /** Changes with each write. */
  revision?: string
}

/** The combo records, whose `all` returns each combo once. */
export function createCombos(records: Records<ComboRecord>): Records<ComboRecord> {
  let last: { from: readonly ComboRecord[]; current: readonly ComboRecord[] } | undefined

  function current(from: readonly ComboRecord[]): readonly ComboRecord[] {
    if (last?.from !== from) last = { from, current: currentCombos(from) }
    return last.current
  }

  return {
    ...records,
    all() {
      const from = records.all()
      return isPromise(from) ? from.then(current) : current(from)
    },
  }
}

/** The valid records: one for each combo. */
export function currentCombos(records: readonly ComboRecord[]): readonly ComboRecord[] {
  if (!records.some(isMoving)) return records
  const moved = new Set(records.map(({ id, name, movedTo }) => way(id, name, movedTo)))
  return records.filter(
    ({ id, name, from, movedTo }) => movedTo === undefined && (from === undefined || moved.has(way(id, from, name))),
  )
}

const isMoving = ({ from, movedTo }: ComboRecord) => from !== undefined || movedTo !== undefined

const way = (id: string, from: string, to: string | undefined) => JSON.stringify([id, from, to])

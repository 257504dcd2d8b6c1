import { isPromise } from '../lib/awaitable.ts'
import type { Combo } from '../types.ts'
import type { Records } from './records.ts'

/**
 * A combo at rest, filed under its name. While it is renamed there are two records of it: the new one says where it comes `from`, and
 * counts once the old one says that it `movedTo` there. So one write decides, whoever is faster and wherever a process ends.
 */
export interface ComboRecord extends Combo {
  from?: string
  movedTo?: string
  /** Another one with each write. */
  revision?: string
}

/** Records of combos whose `all` shows each combo once. */
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

/** Those that count: one record a combo. */
export function currentCombos(records: readonly ComboRecord[]): readonly ComboRecord[] {
  if (!records.some(isMoving)) return records
  const moved = new Set(records.map(({ id, name, movedTo }) => way(id, name, movedTo)))
  return records.filter(
    ({ id, name, from, movedTo }) => movedTo === undefined && (from === undefined || moved.has(way(id, from, name))),
  )
}

const isMoving = ({ from, movedTo }: ComboRecord) => from !== undefined || movedTo !== undefined

const way = (id: string, from: string, to: string | undefined) => JSON.stringify([id, from, to])

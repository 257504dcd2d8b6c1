import { randomBytes } from 'node:crypto'
import type { Row, Rows, Stamp } from '../lib/row-operations.ts'
import { liveRow } from '../lib/row-table.ts'
import type { Snapshot } from './snapshot.ts'
import type { View } from './view.ts'

type RowsOperation<T> = (rows: Rows, stamp: Stamp) => T

interface Waiting {
  /** Applies the operation to a draft; returns the function that resolves the caller's promise, to be called once the draft is durable. */
  apply(rows: Rows, stamp: Stamp): () => void
  reject(error: unknown): void
}

/** Writes to the store; each write is durable when its promise resolves. */
export interface Writer {
  /** Resolves to the result of `operation` once it is durable. */
  write<T>(operation: RowsOperation<T>): Promise<T>
  /** Settles when no write is waiting and the lock is released. */
  idle(): Promise<void>
}

/** Commits operations in groups: operations that arrive during a commit form the next one together. */
export function createWriter({ view, now }: { view: View; now(): number }): Writer {
  let waiting: Waiting[] = []
  let draining: Promise<void> | undefined

  function write<T>(operation: RowsOperation<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      waiting.push({ apply: (rows, stamp) => attempt(() => operation(rows, stamp), resolve, reject), reject })
      draining ??= drain()
    })
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group: Waiting[] = []
      try {
        if (!(await withoutWriting())) await withCommit(group)
      } catch (error) {
        for (const { reject } of [...group, ...waiting.splice(0)]) reject(error)
      }
    }
    draining = undefined
  }

  /**
   * When no waiting operation changes anything, as after lost races and deletions of absent keys, settles all of them without the lock and
   * without a commit. Resolves to whether it did.
   */
  async function withoutWriting(): Promise<boolean> {
    const draft = createDraft(await view.fresh(), now())
    const tells = waiting.map(({ apply }) => apply(draft.rows, draft.stamp()))
    if (draft.changes.size > 0) return false
    waiting = []
    for (const tell of tells) tell()
    return true
  }

  function withCommit(group: Waiting[]): Promise<void> {
    return view.locked(async (lock, snapshot) => {
      group.push(...waiting.splice(0))
      const draft = createDraft(snapshot, now())
      const tells = group.map(({ apply }) => apply(draft.rows, draft.stamp()))
      if (draft.changes.size > 0) await view.commit(lock, snapshot, { rows: draft.changes })
      for (const tell of tells) tell()
    })
  }

  return { write, idle: async () => draining }
}

/** A snapshot with changes that are not committed yet. */
function createDraft({ table, revision }: Snapshot, now: number) {
  const changes = new Map<string, Row | undefined>()
  const tag = `${(revision + 1).toString(36)}-${randomBytes(4).toString('hex')}`
  let count = 0
  const rows: Rows = {
    get: (key) => (changes.has(key) ? liveRow(changes.get(key), now) : table.get(key, now)),
    put: (key, row) => void changes.set(key, row),
    remove: (key) => void changes.set(key, undefined),
  }
  // The random part keeps versions unique when a revision repeats, as after a restored backup or a lost commit.
  const stamp = (): Stamp => ({ now, version: `${tag}${(count++).toString(36)}` })
  return { rows, changes, stamp }
}

function attempt<T>(operation: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): () => void {
  try {
    const result = operation()
    return () => resolve(result)
  } catch (error) {
    return () => reject(error)
  }
}

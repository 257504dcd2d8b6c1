import process from 'node:process'

/** The commands that a process of `process.ts` accepts. */
export type Order =
  | { does: 'calls'; method: string; path: string; body?: unknown }
  | { does: 'asks'; key: string; model: string; times: number }
  | { does: 'watches for a refusal'; key: string }
  | { does: 'waits until one was accepted' }
  | { does: 'adds'; times: number }
  | { does: 'reads the sum' }
  | { does: 'changes'; path: string; member: string; values: unknown[] }
  | { does: 'puts a key'; input: { name: string } }

/** A reply of the management API, and when the process had it (`now`). */
export interface Reply {
  status: number
  body: Record<string, unknown>
  at: number
}

/** The time in ms, of a clock that all processes of the machine share; that of `performance` is each one's own. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

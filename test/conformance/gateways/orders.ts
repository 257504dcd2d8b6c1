import process from 'node:process'

/** The commands that a `process.ts` process accepts. */
export type Order =
  | { does: 'calls'; method: string; path: string; body?: unknown }
  | { does: 'asks'; key: string; model: string; times: number }
  | { does: 'watches for a refusal'; key: string }
  | { does: 'waits until one was accepted' }
  | { does: 'adds'; times: number }
  | { does: 'reads the sum' }
  | { does: 'changes'; path: string; member: string; values: unknown[] }
  | { does: 'puts a key'; input: { name: string } }

/** A management API reply, and the time it arrived (`now`). */
export interface Reply {
  status: number
  body: Record<string, unknown>
  at: number
}

/** Returns the time in ms on a clock that all processes on the machine share, unlike `performance.now()`. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

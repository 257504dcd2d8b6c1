import type { Logger } from '../types.ts'
import { describeError, oneLine } from './one-line.ts'

/** Where the program writes. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
}

/** One line for each thing worth saying; what must not go unseen is on standard error. */
export function createLogger({ out, err }: Terminal): Logger {
  return {
    info: (message, data) => out(`signalbox: ${lineOf(message, data)}\n`),
    warn: (message, data) => err(`signalbox: warning: ${lineOf(message, data)}\n`),
    error: (message, data) => err(`signalbox: error: ${lineOf(message, data)}\n`),
  }
}

function lineOf(message: string, data: Record<string, unknown> = {}): string {
  const facts = Object.entries(data).map(([name, value]) => [
    name,
    value instanceof Error ? describeError(value) : String(value),
  ])
  const unsaid = facts.filter(([, value]) => value !== undefined && !message.includes(value))
  return oneLine(
    unsaid.length > 0 ? `${message} (${unsaid.map(([name, value]) => `${name}: ${value}`).join(', ')})` : message,
  )
}

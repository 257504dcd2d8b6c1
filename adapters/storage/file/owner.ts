import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'
import { hasCode } from './folder.ts'

let place: string | undefined

/** A name that nobody used before, telling which process of which machine made it. */
export function newToken(): string {
  return `${process.pid}.${thisPlace()}.${randomBytes(6).toString('hex')}`
}

/** The process id that a token names, for messages. */
export function processOf(token: string): string {
  return token.split('.')[0] ?? ''
}

/** Is the process that made this token known to be gone? `false` where that cannot be told. */
export function isGone(token: string): boolean {
  const [pid = '', from] = token.split('.')
  if (from !== thisPlace() || !/^\d+$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return hasCode(error, 'ESRCH')
  }
}

/** Where process ids mean the same: one start of one machine, and there one namespace of processes. */
function thisPlace(): string {
  place ??= createHash('sha256')
    .update([hostname(), attempt(bootId), attempt(processNamespace)].join(' '))
    .digest('hex')
    .slice(0, 8)
  return place
}

const bootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
const processNamespace = () => readlinkSync('/proc/self/ns/pid')

function attempt(read: () => string): string {
  try {
    return read()
  } catch {
    return '' // only Linux has these
  }
}

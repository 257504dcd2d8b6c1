import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'
import { hasCode } from './folder.ts'

let processScope: string | undefined

/** Creates a unique token that identifies the process and the machine that created it, for `isGone`. */
export function createToken(): string {
  return `${process.pid}.${getProcessScope()}.${randomBytes(6).toString('hex')}`
}

/** Returns the process ID in a token, for messages. */
export function getProcessId(token: string): string {
  return token.split('.')[0] ?? ''
}

/** Returns whether the process that created this token has certainly ended. Returns `false` if that is unknown. */
export function isGone(token: string): boolean {
  const [pid = '', from] = token.split('.')
  if (from !== getProcessScope() || !/^\d+$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return hasCode(error, 'ESRCH')
  }
}

/** Identifies the scope within which process IDs are unique: one boot of one machine, and one process namespace in it. */
function getProcessScope(): string {
  processScope ??= createHash('sha256')
    .update([hostname(), attempt(readBootId), attempt(readProcessNamespace)].join(' '))
    .digest('hex')
    .slice(0, 8)
  return processScope
}

const readBootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
const readProcessNamespace = () => readlinkSync('/proc/self/ns/pid')

function attempt(read: () => string): string {
  try {
    return read()
  } catch {
    return '' // only Linux has these files
  }
}

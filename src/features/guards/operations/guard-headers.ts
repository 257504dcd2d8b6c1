import { createInputError } from '../../../admin/input.ts'
import { withChange } from '../../../admin/record-operations.ts'
import { describeUnreadable, describeUrlChange, shortenSecret } from '../../../admin/shortened-secrets.ts'
import type { PlainGuard } from '../../../records/guard-records.ts'
import type { StoredGuard } from '../../../records/record-collections.ts'
import type { GuardRecordChange } from '../../../types/records/guard-fields.ts'

/**
 * Applies a change to a guard. Omitted and shortened header values stay the same. Throws `INVALID_REQUEST` if stored headers would be sent to another
 * URL. `opened` is the guard with its headers, if they can be decrypted.
 */
export function applyChange(
  current: StoredGuard,
  { headers, ...changes }: Omit<GuardRecordChange, 'name'>,
  opened: PlainGuard | undefined,
): PlainGuard {
  const { headers: stored } = opened ?? {}
  const next = withChange(current, changes)
  const isMoved = next.url !== current.url
  if (headers !== undefined)
    return withChange(next, { headers: headers && restoreShortened(headers, isMoved ? undefined : stored) })
  if (!opened) throw createInputError(describeUnreadable('headers'))
  if (stored && isMoved) throw createInputError(describeUrlChange('url', "guard's headers are", 'headers'))
  return withChange(next, { headers: stored ?? null })
}

type PlainHeaders = NonNullable<PlainGuard['headers']>

/** Replaces the shortened values that clients send back with the stored ones. */
function restoreShortened(headers: PlainHeaders, stored: PlainHeaders = {}): PlainHeaders {
  const storedByShortened = new Map(Object.entries(stored).map(([name, value]) => [name + shortenSecret(value), value]))
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, storedByShortened.get(name + value) ?? value]),
  )
}

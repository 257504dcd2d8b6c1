import { createInputError } from '../../../admin/input.ts'
import { withChange } from '../../../admin/record-operations.ts'
import { describeUnreadable, describeUrlChange, shortenSecret } from '../../../admin/shortened-secrets.ts'
import type { DecryptedGuard } from '../../../records/guard-records.ts'
import type { StoredGuard } from '../../../records/record-collections.ts'
import type { GuardRecordChange } from '../../../types/records/guard-fields.ts'

/**
 * Applies a change to a guard. Omitted and shortened header values stay the same. Throws `INVALID_REQUEST` if stored headers would be sent to another
 * URL. `decryptedGuard` is the guard with its headers, if they can be decrypted.
 */
export function applyChange(
  current: StoredGuard,
  { headers, ...changes }: Omit<GuardRecordChange, 'name'>,
  decryptedGuard: DecryptedGuard | undefined,
): DecryptedGuard {
  const { headers: storedHeaders } = decryptedGuard ?? {}
  const changedGuard = withChange(current, changes)
  const hasNewUrl = changedGuard.url !== current.url
  if (headers !== undefined)
    return withChange(changedGuard, {
      headers: headers && restoreShortened(headers, hasNewUrl ? undefined : storedHeaders),
    })
  if (!decryptedGuard) throw createInputError(describeUnreadable('headers'))
  if (storedHeaders && hasNewUrl) throw createInputError(describeUrlChange('url', "guard's headers are", 'headers'))
  return withChange(changedGuard, { headers: storedHeaders ?? null })
}

type PlainHeaders = NonNullable<DecryptedGuard['headers']>

/** Replaces the shortened values that clients send back with the stored ones. */
function restoreShortened(headers: PlainHeaders, storedHeaders: PlainHeaders = {}): PlainHeaders {
  const storedByShortened = new Map(
    Object.entries(storedHeaders).map(([name, value]) => [name + shortenSecret(value), value]),
  )
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, storedByShortened.get(name + value) ?? value]),
  )
}

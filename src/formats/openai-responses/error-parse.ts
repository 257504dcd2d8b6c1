import type { CanonicalError } from '../canonical/errors.ts'
import { kindOf, parseEmbeddedError } from '../vendor-error.ts'
import { saysNoFunds } from '../vendor-words.ts'

/** The error of a response that failed, or of an error event: only its code says what status it would have had. */
export function responseError(error: unknown): CanonicalError {
  const { message, status: said, code } = parseEmbeddedError(error)
  const status = statusOf(message, code) ?? said
  const kind = kindOf(status, message, code)
  return code === undefined ? { kind, status, message } : { kind, status, message, code }
}

function statusOf(message: string, code: string | undefined): number | undefined {
  if (saysNoFunds(message, code)) return 429
  return code === undefined ? undefined : statuses.find(([pattern]) => pattern.test(code))?.[1]
}

const statuses: readonly (readonly [RegExp, number])[] = [
  [/^(?:server_is_overloaded|slow_down)$/, 503],
  [/^(?:invalid_|image_|empty_image|unsupported_image|failed_to_download)/, 400],
  [/policy/, 400],
]

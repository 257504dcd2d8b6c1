import { toHeaderSafe } from '../../lib/http-headers.ts'
import type { ResponseWarnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import type { CodecRequest } from './codec.ts'

/**
 * Creates the `x-signalbox-warning: dropped:seed, clamped:temperature` header. A long list ends with the number of omitted entries, such as
 * `more:12`.
 */
export function createWarningHeader(warnings: readonly string[]): Record<string, string> {
  const listed = warnings.slice(0, MAX_WARNINGS).map(toHeaderSafe)
  if (warnings.length > MAX_WARNINGS) listed.push(`more:${warnings.length - MAX_WARNINGS}`)
  return listed.length === 0 ? {} : { 'x-signalbox-warning': listed.join(', ') }
}

const MAX_WARNINGS = 30

/** Returns whether the request is rejected if its translation would drop something. The header can make a request strict, but not lenient. */
export const isStrict = ({ exchange, context }: Pick<CodecRequest, 'exchange' | 'context'>): boolean =>
  context.isStrict || /^(true|1)$/i.test(exchange.header('x-signalbox-strict')?.trim() ?? '')

/**
 * Lists a response's dropped fields as a comment in its stream, if the headers have already been sent: `: x-signalbox-warning:
 * dropped:answer.citations`. Returns `undefined` if nothing was dropped. No blank line follows, because OpenAI's Go client long mistook a comment and
 * a blank line for an event, which it couldn't parse.
 */
export function createDroppedFieldsComment(responseWarnings: Pick<ResponseWarnings, 'list'>): string | undefined {
  const [header] = Object.entries(createWarningHeader(responseWarnings.list()))
  return header && `: ${header.join(': ')}\n`
}

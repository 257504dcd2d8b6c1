import type { ResponseWarnings } from '../formats/canonical/warnings.ts'
import { headerSafe } from '../lib/http-headers.ts'
import type { AskedRequest } from './codec.ts'

/** `x-signalbox-warning: dropped:seed, clamped:temperature`; a long list is cut and ends with the number of the others, `more:12`. */
export function warningHeader(warnings: readonly string[]): Record<string, string> {
  const named = warnings.slice(0, MAX_WARNINGS).map(headerSafe)
  if (warnings.length > MAX_WARNINGS) named.push(`more:${warnings.length - MAX_WARNINGS}`)
  return named.length === 0 ? {} : { 'x-signalbox-warning': named.join(', ') }
}

const MAX_WARNINGS = 30

/** Is what a translation would lose refused? The header can only make a request strict, not lenient. */
export const isStrict = ({ exchange, context }: Pick<AskedRequest, 'exchange' | 'context'>): boolean =>
  context.isStrict || /^(true|1)$/i.test(exchange.header('x-signalbox-strict')?.trim() ?? '')

/**
 * What an answer loses, as a comment of its stream whose headers are gone: `: x-signalbox-warning: dropped:answer.citations`; undefined when
 * nothing is lost. No blank line follows it: OpenAI's client for Go has long taken the two for an event, which it cannot read.
 */
export function lossComment(responseWarnings: Pick<ResponseWarnings, 'list'>): string | undefined {
  const [header] = Object.entries(warningHeader(responseWarnings.list()))
  return header && `: ${header.join(': ')}\n`
}

import type { Losses } from '../formats/canonical/losses.ts'
import { warningHeader } from './success-reply.ts'

/**
 * What an answer loses, as a comment of its stream whose headers are gone: `: x-signalbox-warning: dropped:answer.citations`; undefined when
 * nothing is lost. No blank line follows it: OpenAI's client for Go has long taken the two for an event, which it cannot read.
 */
export function lossComment(losses: Losses): string | undefined {
  const [header] = Object.entries(warningHeader(losses.list()))
  return header && `: ${header.join(': ')}\n`
}

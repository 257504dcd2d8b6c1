import { isObject } from '../../lib/json.ts'
import type { Losses } from '../canonical/losses.ts'

/** Tells the kinds of parts in the content of an answer that are neither texts nor thoughts, such as Mistral's references. */
export function loseUnknown(content: readonly unknown[], losses: Losses): void {
  for (const part of content) if (isObject(part) && !isKnown(part.type)) losses.dropped(String(part.type))
}

const isKnown = (type: unknown): boolean =>
  type === undefined || type === 'text' || type === 'output_text' || type === 'thinking' || type === 'reasoning'

import { isObject, type JsonObject } from '../../lib/json.ts'
import type { EmbeddedError } from '../format.ts'

/** Does the candidate's content say something? An empty text without a signature is nothing yet. */
export function hasContent({ content }: JsonObject): boolean {
  const parts: unknown[] = isObject(content) && Array.isArray(content.parts) ? content.parts : []
  return parts.some((part) => isObject(part) && (part.text !== '' || Object.keys(part).length > 1))
}

/** What a candidate's finish reason says against its answer, which may do better the next time. */
export function brokenBy({ finishReason, finishMessage }: JsonObject, isSaying: boolean): EmbeddedError | undefined {
  if (!(isSaying ? BROKEN : BROKEN_IF_EMPTY).test(String(finishReason))) return undefined
  return {
    class: 'content',
    status: 502,
    message: String(finishMessage ?? `The model's answer is broken: ${finishReason}.`),
  }
}

const BROKEN = /^(?:MALFORMED_|UNEXPECTED_TOOL|TOO_MANY_TOOL|MISSING_THOUGHT)/
const BROKEN_IF_EMPTY = new RegExp(`${BROKEN.source}|^(?:OTHER|5|NO_IMAGE)$`)

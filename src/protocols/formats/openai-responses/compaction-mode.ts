import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { CompactionMode } from '../canonical/canonical-request.ts'

/** Reads whether and when to compact: if the last input item is a `compaction_trigger`, or as `context_management` specifies. */
export function readCompactionMode({ input, context_management: management }: JsonObject): CompactionMode | undefined {
  const lastItem: unknown = Array.isArray(input) ? input.at(-1) : undefined
  if (isObject(lastItem) && lastItem.type === 'compaction_trigger') return 'now'
  const entries: unknown[] = Array.isArray(management) ? management : []
  const entry = entries.filter(isObject).find(({ type }) => type === 'compaction')
  if (!entry) return undefined
  const { compact_threshold: threshold } = entry
  return typeof threshold === 'number' ? { thresholdTokens: threshold } : {}
}

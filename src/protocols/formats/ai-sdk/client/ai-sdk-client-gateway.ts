import type { Fields } from '../../canonical/canonical-fields.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'

/** Maximum number of labels per request, and their maximum length. */
export const LABEL_LIMITS = { maxCount: 10, maxLength: 64 }

/** The options for the AI SDK's own gateway that this gateway applied before it chose a target. */
const APPLIED_OPTIONS = [
  ...['order', 'only', 'sort', 'models', 'has', 'tags', 'user', 'quotaEntityId'],
  ...['zeroDataRetention', 'disallowPromptTraining'],
]

/** Marks the AI SDK gateway options that have been applied, and warns about options that were only partly applied. */
export function recordGatewayOptions(gateway: Fields, warnings: Warnings): void {
  const { sort, tags = [] } = gateway.value
  gateway.ignore(...APPLIED_OPTIONS)
  if (sort === 'tps') warnings.recordChange(gateway.getPath('sort'), 'replaced') // sorts by `ttft` instead, because throughput isn't measured
  if (!Array.isArray(tags)) return
  if (tags.length > LABEL_LIMITS.maxCount || tags.some((tag) => String(tag).length > LABEL_LIMITS.maxLength))
    warnings.recordChange(gateway.getPath('tags'), 'clamped')
}

import { isObject, tryParseJson } from '../../lib/json.ts'
import { scanTopLevel } from '../../lib/json-scan.ts'

/**
 * The first line of Claude Code's instructions, `x-anthropic-billing-header: cc_version=…; cch=<nonce>;`, usually in its own block. Anthropic ignores
 * it. At other providers, it makes every prompt differ from the first line on, so prefix caches never match
 * (https://github.com/anthropics/claude-code/issues/68900).
 */
const BILLING_HEADER = 'x-anthropic-billing-header:'

const BILLING_LINE_PATTERN = /^\s*x-anthropic-billing-header:[^\n]*\n*/

/** Returns whether the target ignores the billing line: a Claude model at Anthropic or a cloud provider. */
export const ignoresBillingLine = (format: string, model: string): boolean =>
  /^(?:anthropic-messages|bedrock-converse)$/.test(format) && /(?:^|[./])claude-/i.test(model)

/** Removes the billing line from instructions. */
export const removeBillingLine = (text: string): string =>
  text.includes(BILLING_HEADER) ? text.replace(BILLING_LINE_PATTERN, '') : text

/** Removes the billing line from a Messages request, unless the target ignores it. Changes nothing else. */
export function removeBillingFromBody(
  request: { body?: string | Uint8Array },
  { format, model }: { format: string; model: string },
): void {
  const { body } = request
  if (typeof body !== 'string' || ignoresBillingLine(format, model)) return
  const { spans } = scanTopLevel(body, ['system'])
  request.body = spans.reduceRight((remainingBody, { start, end }) => {
    const system = removeFromInstructions(tryParseJson(remainingBody.slice(start, end)))
    return remainingBody.slice(0, start) + JSON.stringify(system) + remainingBody.slice(end)
  }, body)
}

function removeFromInstructions(system: unknown): unknown {
  if (typeof system === 'string') return removeBillingLine(system)
  if (!Array.isArray(system)) return system
  return system.flatMap((block: unknown) => {
    if (!isObject(block) || typeof block.text !== 'string') return [block]
    const text = removeBillingLine(block.text)
    if (text === block.text) return [block]
    return text.trim() === '' ? [] : [{ ...block, text }]
  })
}

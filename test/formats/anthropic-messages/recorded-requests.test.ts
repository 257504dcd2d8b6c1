import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { anthropicTranslator } from '../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import { prepareRequest } from '../../../src/protocols/formats/canonical/prepare/prepare.ts'
import type { TargetContext } from '../../../src/protocols/formats/translator.ts'
import type { Traits } from '../../../src/traits.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { recordedExchanges } from '../support/recordings.ts'

const test = suite('recorded Messages requests')

/** Translates a request to the canonical format and back. */
function rewrite(request: JsonObject): { body: JsonObject; warnings: string[] } {
  const { target, warnings } = contexts(anthropicTranslator, { traits: getTraits(request) })
  const context: TargetContext = {
    ...target,
    model: String(request.model),
    origin: { format: 'anthropic-messages', account: 'a' },
  }
  const parsed = anthropicTranslator.parseRequest(request, { warnings })
  const { supportedOptions } = anthropicTranslator
  const { request: prepared } = prepareRequest(parsed, { ...context, supportedOptions })
  return { body: anthropicTranslator.writeRequest(prepared, context).body, warnings: warnings.list() }
}

/** Returns the traits of the requested model. */
function getTraits({ thinking, output_config }: JsonObject): Partial<Traits> {
  const control = isObject(thinking)
    ? thinking.type === 'enabled'
      ? 'budget'
      : 'adaptive'
    : output_config
      ? 'effort'
      : 'budget'
  const reasoning = { ...anthropicTranslator.traits.reasoning, control } as const
  return { lacks: [], lateSystem: true, prefill: true, reasoning }
}

/** Removes insignificant differences from a request: short forms, nulls, defaults, and split turns. */
function normal(request: JsonObject): JsonObject {
  const { system, messages, stream, tools, ...rest } = withoutNulls(request)
  const turns: { role: unknown; content: JsonObject[] }[] = []
  for (const { role, content } of objects(messages)) {
    const blocks = getBlocks(content)
    const last = turns.at(-1)
    if (last?.role === role) last?.content.push(...blocks)
    else if (blocks.length > 0) turns.push({ role, content: blocks })
  }
  const normalTools = objects(tools).map(normalTool)
  return {
    ...rest,
    ...(getBlocks(system).length > 0 && { system: getBlocks(system) }),
    ...(stream === true && { stream }),
    ...(normalTools.length > 0 && { tools: normalTools }),
    messages: turns,
  }
}

/** Adapts a tool to the writer, which uses the oldest version of web search. */
function normalTool({ type, allowed_callers: _, ...tool }: JsonObject): JsonObject {
  if (type === undefined || type === 'custom') return tool
  return { ...tool, type: String(type).replace(/^(web_search)_.*/, '$1_20250305') }
}

function getBlocks(content: unknown): JsonObject[] {
  if (typeof content === 'string') return getBlocks([{ type: 'text', text: content }])
  const isVisible = ({ type, text }: JsonObject) => type !== 'text' || String(text).trim() !== ''
  return objects(content)
    .filter(isVisible)
    .map(({ is_error, content: inner, ...block }) => {
      const within = getBlocks(inner)
      return { ...block, ...(is_error === true && { is_error }), ...(within.length > 0 && { content: within }) }
    })
}

const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Removes nulls, which clients send for unset fields, and image types, which clients often get wrong. */
const withoutNulls = (value: JsonObject): JsonObject =>
  JSON.parse(
    JSON.stringify(value, (name, inner) =>
      inner === null || (name === 'media_type' && String(inner).startsWith('image/')) ? undefined : inner,
    ),
  )

test('rewriting a recorded request leaves it unchanged, except for changes listed in warnings', () => {
  const counts = { same: 0, changed: 0, refused: 0 }
  for (const { name, url, request } of recordedExchanges(['anthropic'])) {
    if (!/\/v1\/messages(\?|$)/.test(url) || !isObject(request)) continue
    let written: ReturnType<typeof rewrite>
    try {
      written = rewrite(request)
    } catch (error) {
      assert.match(String(error), REFUSED, name)
      counts.refused++
      continue
    }
    const unknown = written.warnings.filter((warning) => !CHANGED.test(warning))
    assert.equal(unknown, [], name)
    if (written.warnings.length === 0) assert.equal(normal(written.body), normal(request), name)
    counts[written.warnings.length === 0 ? 'same' : 'changed']++
  }
  assert.ok(counts.same > 250 && counts.changed < 90 && counts.refused < 40, JSON.stringify(counts))
})

/** Errors about features that only Anthropic supports. */
const REFUSED =
  /"(container|mcp_servers)": only Anthropic|"(advisor|code_execution|memory|web_fetch)_\d+" only work with Anthropic|"container_upload" is not supported/

/** Warnings about deferred tools and tool searches, Anthropic's own searches and summaries, and an omitted last turn. */
const CHANGED =
  /^dropped:tools\[\d+\](\.defer_loading)?$|^(dropped|replaced|added):messages(\[\d+\]\.content\[\d+\])*|^dropped:(context_management|output_config\.task_budget)$/

import { isObject, type JsonObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import { type Fields, fieldsOf } from '../canonical/fields.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { noteNames } from '../canonical/said-names.ts'
import type { SystemTurn } from '../canonical/turns.ts'
import { type OfferedTool, withoutVendorTools } from '../canonical/vendor-tools.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { ParseContext } from '../translator.ts'
import { compactionIn } from './compaction-wish.ts'
import { echoOf } from './echo.ts'
import { parseInput } from './items-parse.ts'
import type { Namespaces } from './namespaces.ts'
import { synonyms } from './option-names.ts'
import { parseOptions, parseOutput } from './options-parse.ts'
import { parseToolChoice, parseTools } from './tools-parse.ts'

/** A client's request for a response. Nothing is kept between requests, so that what refers to an earlier one is refused. */
export function parseRequest(asked: JsonObject, context: ParseContext): CanonicalRequest {
  const { warnings } = context
  const compact = context.isCompaction ? 'now' : compactionIn(asked)
  const json = compact === 'now' ? withoutAnswer(asked) : asked
  const body = fieldsOf(json, '', warnings)
  noteNames(json, synonyms, warnings)
  refuseState(body, warnings)
  const namespaces: Namespaces = {}
  const declared = parseTools(body, namespaces, warnings)
  const { turns, tools } = parseInput(body, { ...context, namespaces, compact })
  const toolChoice = parseToolChoice(body, warnings)
  const kept = withoutVendorTools(withoutDoubles([...declared, ...tools], warnings), toolChoice, warnings)
  const ownTools = kept.flatMap((tool) => (tool.type === 'function' && tool.own ? [tool.name] : []))
  const text = body.fields('text')
  const stream = body.flag('stream') ?? false
  const request = defined<CanonicalRequest>({
    model: body.text('model') ?? '',
    stream,
    streamUsage: stream,
    turns: [...parseInstructions(body), ...turns],
    tools: kept,
    toolChoice,
    output: parseOutput(text, warnings),
    options: parseOptions(body, text, warnings),
    compact,
    client: { echo: echoOf(json), namespaces, ownTools, isKept: json.store !== false },
  })
  text?.drop()
  body.ignore('stream_options')
  if ((body.list('context_management') ?? []).some((entry) => !isObject(entry) || entry.type !== 'compaction'))
    warnings.dropped('context_management')
  if (json.truncation === 'disabled') body.ignore('truncation')
  body.drop()
  return request
}

/** A request that is answered by a compaction, without the members that are about an answer. */
const withoutAnswer = (json: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !OF_ANSWERS.has(name)))

const OF_ANSWERS: ReadonlySet<string> = new Set([
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'max_output_tokens',
])

/** What stands for a conversation, a prompt or an answer that is kept by the vendor. */
function refuseState(body: Fields, warnings: Warnings) {
  for (const name of ['previous_response_id', 'conversation'])
    if (body.any(name) !== undefined)
      warnings.refuse(name, 'nothing is stored here: send the whole conversation as "input".')
  if (body.any('prompt') !== undefined) warnings.refuse('prompt', 'is stored at one vendor and cannot be passed on.')
  if (body.flag('background')) warnings.refuse('background', 'nothing is stored here: wait for the answer.')
}

function parseInstructions(body: Fields): SystemTurn[] {
  const text = body.text('instructions')
  return text ? [{ role: 'system', as: 'instructions', content: [{ type: 'text', text }] }] : []
}

/** Declares each tool once, as it was first: clients repeat what they declare on the way. */
function withoutDoubles(tools: readonly OfferedTool[], warnings: Warnings): OfferedTool[] {
  const known = new Map<string, OfferedTool>()
  return tools.filter((tool) => {
    if (tool.type === 'web-search' || tool.type === 'vendor') return true
    const first = known.get(tool.name)
    if (!first) known.set(tool.name, tool)
    else if (JSON.stringify(first) !== JSON.stringify(tool)) warnings.dropped(warnings.pathOf(tool, 'tools'))
    return !first
  })
}

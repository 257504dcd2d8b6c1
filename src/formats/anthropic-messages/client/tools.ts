import { assertNever } from '../../../lib/assert-never.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { Fields } from '../../canonical/fields.ts'
import {
  type FunctionTool,
  type OfferedTool,
  type Tool,
  type ToolChoice,
  toolsIn,
  type VendorTool,
  type WebSearchTool,
  withoutVendorTools,
} from '../../canonical/tools.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { parseMark } from '../fields.ts'

/** Parses `tools`: functions, tools that Anthropic defines and clients run, and the web search. */
export function parseTools(body: Fields, choice: ToolChoice | undefined, warnings: Warnings): Tool[] {
  const offered = toolsIn(body, 'tools', warnings).flatMap((fields) => {
    const tool = parseTool(fields, warnings)
    if (!tool) return []
    if (tool.type !== 'vendor') fields.drop()
    warnings.place(tool, fields.at, TOOL_NAMES)
    return [tool]
  })
  return withoutVendorTools(offered, choice, warnings)
}

const TOOL_NAMES = {
  schema: 'input_schema',
  maxUses: 'max_uses',
  allowedDomains: 'allowed_domains',
  blockedDomains: 'blocked_domains',
  location: 'user_location',
  kind: 'type',
}

function parseTool(tool: Fields, warnings: Warnings): OfferedTool | undefined {
  const type = tool.text('type') ?? 'custom'
  if (type === 'custom') return parseFunction(tool, warnings)
  if (type.startsWith('web_search_')) return parseSearch(tool)
  const own = clientTool(tool)
  if (own) {
    const cache = parseMark(tool, warnings)
    tool.ignore(...Object.keys(tool.value))
    return cache ? { ...own, cache } : own
  }
  if (!type.startsWith('tool_search_tool_'))
    return defined<VendorTool>({
      type: 'vendor',
      name: tool.text('name'),
      refusal: `a tool of type "${type}" is Anthropic's own and cannot be passed on.`,
    })
  warnings.noteDropped(tool.at) // the tools that a search would find are declared from the beginning
  return undefined
}

function parseFunction(tool: Fields, warnings: Warnings): FunctionTool {
  for (const name of ['defer_loading', 'input_examples']) if (tool.any(name)) warnings.noteDropped(tool.path(name))
  tool.ignore('eager_input_streaming')
  if (tool.texts('allowed_callers')?.every((caller) => caller !== 'direct'))
    warnings.noteDropped(tool.path('allowed_callers'))
  return defined<FunctionTool>({
    type: 'function',
    name: tool.text('name') ?? warnings.refuse(tool.path('name'), 'is required.'),
    description: tool.text('description'),
    schema: tool.object('input_schema'),
    strict: tool.flag('strict'),
    cache: parseMark(tool, warnings),
  })
}

function parseSearch(tool: Fields): WebSearchTool {
  const place = tool.fields('user_location')
  const location = place && {
    city: place.text('city'),
    region: place.text('region'),
    country: place.text('country'),
    timezone: place.text('timezone'),
  }
  tool.ignore('name', 'allowed_callers', 'response_inclusion', 'defer_loading', 'strict')
  return defined<WebSearchTool>({
    type: 'web-search',
    maxUses: tool.number('max_uses'),
    allowedDomains: tool.texts('allowed_domains'),
    blockedDomains: tool.texts('blocked_domains'),
    location: location && defined<NonNullable<WebSearchTool['location']>>(location),
  })
}

/** Parses `tool_choice`, which also allows or forbids parallel calls. */
export function parseToolChoice(
  body: Fields,
  warnings: Warnings,
): { toolChoice: ToolChoice | undefined; parallelToolCalls: boolean | undefined } {
  const choice = body.fields('tool_choice')
  const isSerial = choice?.flag('disable_parallel_tool_use')
  return {
    toolChoice: choice && parseChoice(choice, warnings),
    parallelToolCalls: isSerial === undefined ? undefined : !isSerial,
  }
}

function parseChoice(choice: Fields, warnings: Warnings): ToolChoice {
  const type = choice.word('type', ['auto', 'any', 'tool', 'none'])
  switch (type) {
    case undefined:
      return warnings.refuse(choice.path('type'), 'is required.')
    case 'any':
      return { type: 'required' }
    case 'tool':
      return { type, name: choice.text('name') ?? warnings.refuse(choice.path('name'), 'is required.') }
    case 'auto':
    case 'none':
      return { type }
    default:
      return assertNever(type)
  }
}

/*
 * Tools that Anthropic defines and clients run, each with a name of its own. Their calls and results are like those of any other tool, so
 * that a schema of their input is all that other models need.
 */

const TEXT = { type: 'string' }
const LINES = {
  type: 'array',
  items: { type: 'integer' },
  description: 'The first and the last line to show, from 1; -1: to the end.',
}

const object = (properties: JsonObject, ...required: string[]): JsonObject => ({ type: 'object', properties, required })

const commands = (...words: string[]): JsonObject => ({ type: 'string', enum: words })

type Declaration = Pick<FunctionTool, 'description' | 'schema'>

/** The declarations by the beginning of the type, which ends in a date. */
const declarations: ReadonlyArray<[type: string, declare: (date: number) => Declaration]> = [
  ['bash_', () => BASH],
  ['text_editor_', textEditor],
  ['memory_', () => MEMORY],
]

/** A declared tool as a function with the tool's name; `undefined` for all other tools. */
function clientTool(tool: Fields): FunctionTool | undefined {
  const type = tool.text('type') ?? ''
  const [prefix = '', declare] = declarations.find(([start]) => type.startsWith(start)) ?? []
  const name = tool.text('name')
  if (!declare || name === undefined) return undefined
  const { cache_control: _, ...value } = tool.value
  return {
    type: 'function',
    name,
    ...declare(Number(type.slice(prefix.length))),
    own: { format: 'anthropic-messages', value },
  }
}

const BASH: Declaration = {
  description: 'Runs a command in a bash session on the machine of the user, which goes on from call to call.',
  schema: object({
    command: { ...TEXT, description: 'The command to run; required unless the session is restarted.' },
    restart: { type: 'boolean', description: 'Whether to restart the session.' },
  }),
}

/** Declares the text editor. Its first two versions have the command `undo_edit`; since July 2025 `insert` has a field of its own for the text. */
function textEditor(date: number): Declaration {
  const inserted = date >= 20250728 ? 'insert_text' : 'new_str'
  const undo = date < 20250429 ? ['undo_edit'] : []
  return {
    description: `Shows and edits files of the user. "view" shows a file with line numbers, or a directory; "create" writes a file with file_text; "str_replace" replaces old_str, which must be in the file exactly once, by new_str; "insert" puts ${inserted} after the line insert_line.${undo.length > 0 ? ' "undo_edit" undoes the last edit of a file.' : ''}`,
    schema: object(
      {
        command: commands('view', 'create', 'str_replace', 'insert', ...undo),
        path: { ...TEXT, description: 'The path of the file or directory.' },
        ...{ file_text: TEXT, view_range: LINES, old_str: TEXT, new_str: TEXT },
        insert_line: { type: 'integer', description: 'The line to insert after; 0: at the beginning.' },
        ...(inserted === 'insert_text' && { insert_text: TEXT }),
      },
      'command',
      'path',
    ),
  }
}

const MEMORY: Declaration = {
  description:
    'Keeps notes in files below /memories, which stay for later conversations. View /memories before anything else, since it may hold earlier progress, and note what is worth keeping. "view" shows a directory or a file; "create" writes a file with file_text; "str_replace" replaces old_str by new_str; "insert" puts insert_text after the line insert_line; "delete" removes path; "rename" moves old_path to new_path.',
  schema: object(
    {
      command: commands('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
      path: { ...TEXT, description: 'A path below /memories.' },
      ...{ view_range: LINES, file_text: TEXT, old_str: TEXT, new_str: TEXT },
      ...{ insert_line: { type: 'integer' }, insert_text: TEXT, old_path: TEXT, new_path: TEXT },
    },
    'command',
  ),
}

import type { JsonObject } from '../../lib/json.ts'
import type { FunctionTool } from './canonical/canonical-tools.ts'

/* Tools that Anthropic defines and clients run. Other models only need an input schema, because calls and results have the usual form. */

const STRING_SCHEMA = { type: 'string' }
const LINES_SCHEMA = {
  type: 'array',
  items: { type: 'integer' },
  description: 'The first and the last line to show, from 1; -1: to the end.',
}

const createSchema = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
})

const createCommandSchema = (...commands: string[]): JsonObject => ({ type: 'string', enum: commands })

type Declaration = Pick<FunctionTool, 'description' | 'schema'>

/** Declarations, keyed by the prefix of the tool type. Each type ends in a date. */
const declarations: ReadonlyArray<[type: string, declare: (date: number) => Declaration]> = [
  ['bash_', () => BASH_TOOL],
  ['text_editor_', declareTextEditor],
  ['memory_', () => MEMORY_TOOL],
]

/** Converts a declared tool to a function with the tool's name. Returns `undefined` for all other tools. */
export function toClientTool({ cache_control: _, ...value }: JsonObject): FunctionTool | undefined {
  const { type, name } = value
  if (typeof type !== 'string' || typeof name !== 'string') return undefined
  const [prefix = '', declare] = declarations.find(([typePrefix]) => type.startsWith(typePrefix)) ?? []
  if (!declare) return undefined
  return {
    type: 'function',
    name,
    ...declare(Number(type.slice(prefix.length))),
    native: { format: 'anthropic-messages', value },
  }
}

/** Returns the beta feature that a declared tool needs, or `undefined` if it needs none. */
export const getBetaFeature = (type: string): string | undefined =>
  betaFeatures.find(([typePattern]) => typePattern.test(type))?.[1]

const betaFeatures = [
  [/^(?:computer|bash|text_editor)_20241022$/, 'computer-use-2024-10-22'],
  [/^(?:(?:computer|bash|text_editor)_20250124|text_editor_20250429)$/, 'computer-use-2025-01-24'],
  [/^computer_20251124$/, 'computer-use-2025-11-24'],
  [/^memory_/, 'context-management-2025-06-27'],
  [/^code_execution_20250522$/, 'code-execution-2025-05-22'],
  [/^code_execution_20250825$/, 'code-execution-2025-08-25'],
  [/^web_fetch_20250910$/, 'web-fetch-2025-09-10'],
  [/^web_fetch_20260209$/, 'code-execution-web-tools-2026-02-09'],
  [/^advisor_/, 'advisor-tool-2026-03-01'],
] as const

const BASH_TOOL: Declaration = {
  description: 'Runs a command in a bash session on the machine of the user, which goes on from call to call.',
  schema: createSchema({
    command: { ...STRING_SCHEMA, description: 'The command to run; required unless the session is restarted.' },
    restart: { type: 'boolean', description: 'Whether to restart the session.' },
  }),
}

/** Declares the text editor. Its first two versions have the `undo_edit` command. Since July 2025, `insert` has its own field for the text. */
function declareTextEditor(date: number): Declaration {
  const insertTextField = date >= 20250728 ? 'insert_text' : 'new_str'
  const undoCommands = date < 20250429 ? ['undo_edit'] : []
  return {
    description: `Shows and edits files of the user. "view" shows a file with line numbers, or a directory; "create" writes a file with file_text; "str_replace" replaces old_str, which must be in the file exactly once, by new_str; "insert" puts ${insertTextField} after the line insert_line.${undoCommands.length > 0 ? ' "undo_edit" undoes the last edit of a file.' : ''}`,
    schema: createSchema(
      {
        command: createCommandSchema('view', 'create', 'str_replace', 'insert', ...undoCommands),
        path: { ...STRING_SCHEMA, description: 'The path of the file or directory.' },
        ...{ file_text: STRING_SCHEMA, view_range: LINES_SCHEMA, old_str: STRING_SCHEMA, new_str: STRING_SCHEMA },
        insert_line: { type: 'integer', description: 'The line to insert after; 0: at the beginning.' },
        ...(insertTextField === 'insert_text' && { insert_text: STRING_SCHEMA }),
      },
      'command',
      'path',
    ),
  }
}

const MEMORY_TOOL: Declaration = {
  description:
    'Keeps notes in files below /memories, which stay for later conversations. View /memories before anything else, since it may hold earlier progress, and note what is worth keeping. "view" shows a directory or a file; "create" writes a file with file_text; "str_replace" replaces old_str by new_str; "insert" puts insert_text after the line insert_line; "delete" removes path; "rename" moves old_path to new_path.',
  schema: createSchema(
    {
      command: createCommandSchema('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
      path: { ...STRING_SCHEMA, description: 'A path below /memories.' },
      ...{ view_range: LINES_SCHEMA, file_text: STRING_SCHEMA, old_str: STRING_SCHEMA, new_str: STRING_SCHEMA },
      ...{
        insert_line: { type: 'integer' },
        insert_text: STRING_SCHEMA,
        old_path: STRING_SCHEMA,
        new_path: STRING_SCHEMA,
      },
    },
    'command',
  ),
}

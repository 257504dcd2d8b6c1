import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { getEntry } from '../../../../lib/maps.ts'
import type { FunctionTool } from '../../canonical/canonical-tools.ts'

/*
 * Tools that OpenAI defines and clients run. The AI SDK validates their input with its own schemas, which aren't part of any API. All models
 * therefore call these tools as functions, with the schemas below.
 */

/** Parses a tool as a function. Returns `undefined` for other tools, and for a shell that OpenAI runs. */
export function parseOpenAITool(id: string, name: string, { environment }: JsonObject): FunctionTool | undefined {
  const environmentType = isObject(environment) ? environment.type : undefined
  const tool = getEntry(openAITools, id)
  return tool && (environmentType ?? 'local') === 'local' ? { type: 'function', name, ...tool } : undefined
}

const STRING_SCHEMA = { type: 'string' }
const INTEGER_SCHEMA = { type: 'integer' }

const createSchema = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const createListSchema = (description: string) => ({ type: 'array', items: STRING_SCHEMA, description })

const createEnumSchema = (...types: string[]): JsonObject => ({ type: 'string', enum: types })

const openAITools: Readonly<Record<string, Required<Pick<FunctionTool, 'description' | 'schema'>>>> = {
  'openai.shell': {
    description: 'Runs shell commands on the machine of the user, side by side, and returns what each of them prints.',
    schema: createSchema(
      {
        action: createSchema(
          {
            commands: createListSchema('The commands, each one line for the shell.'),
            timeoutMs: { ...INTEGER_SCHEMA, description: 'The longest time that a command may take, in milliseconds.' },
            maxOutputLength: {
              ...INTEGER_SCHEMA,
              description: 'The most characters to return of the output of a command.',
            },
          },
          'commands',
        ),
      },
      'action',
    ),
  },
  'openai.local_shell': {
    description: 'Runs one command on the machine of the user and returns what it prints.',
    schema: createSchema(
      {
        action: createSchema(
          {
            type: createEnumSchema('exec'),
            command: createListSchema('The program and its arguments.'),
            timeoutMs: {
              ...INTEGER_SCHEMA,
              description: 'The longest time that the command may take, in milliseconds.',
            },
            workingDirectory: STRING_SCHEMA,
            env: { type: 'object', additionalProperties: STRING_SCHEMA, description: 'Environment variables to set.' },
          },
          'type',
          'command',
        ),
      },
      'action',
    ),
  },
  'openai.apply_patch': {
    description:
      'Creates, changes or deletes one file of the user. A diff has no header and no line numbers. To create a file, each line of the diff is "+" and a line of the file. To change one, each hunk begins with a line "@@" and goes on with lines that stay (" "), go ("-") and come ("+"), with about three lines around each change.',
    schema: createSchema(
      {
        callId: { ...STRING_SCHEMA, description: 'Any name for this call.' },
        operation: createSchema(
          {
            type: createEnumSchema('create_file', 'update_file', 'delete_file'),
            path: { ...STRING_SCHEMA, description: 'The path of the file, within the project.' },
            diff: { ...STRING_SCHEMA, description: 'The diff; left out to delete a file.' },
          },
          'type',
          'path',
        ),
      },
      'callId',
      'operation',
    ),
  },
}

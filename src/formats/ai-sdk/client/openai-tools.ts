import { isObject, type JsonObject } from '../../../lib/json.ts'
import { entryOf } from '../../../lib/maps.ts'
import type { FunctionTool } from '../../canonical/tools.ts'

/*
 * Tools that OpenAI defines and clients run. The AI SDK checks their input by schemas of its own, which no API has. All models therefore call these
 * tools as functions, with the schemas below.
 */

/** A tool as a function; `undefined` for other tools, and for a shell that runs at OpenAI. */
export function openaiTool(id: string, name: string, { environment }: JsonObject): FunctionTool | undefined {
  const place = isObject(environment) ? environment.type : undefined
  const tool = entryOf(tools, id)
  return tool && (place ?? 'local') === 'local' ? { type: 'function', name, ...tool } : undefined
}

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }

const object = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const commands = (description: string) => ({ type: 'array', items: TEXT, description })

const operation = (...types: string[]): JsonObject => ({ type: 'string', enum: types })

const tools: Readonly<Record<string, Required<Pick<FunctionTool, 'description' | 'schema'>>>> = {
  'openai.shell': {
    description: 'Runs shell commands on the machine of the user, side by side, and returns what each of them prints.',
    schema: object(
      {
        action: object(
          {
            commands: commands('The commands, each one line for the shell.'),
            timeoutMs: { ...NUMBER, description: 'The longest time that a command may take, in milliseconds.' },
            maxOutputLength: { ...NUMBER, description: 'The most characters to return of the output of a command.' },
          },
          'commands',
        ),
      },
      'action',
    ),
  },
  'openai.local_shell': {
    description: 'Runs one command on the machine of the user and returns what it prints.',
    schema: object(
      {
        action: object(
          {
            type: operation('exec'),
            command: commands('The program and its arguments.'),
            timeoutMs: { ...NUMBER, description: 'The longest time that the command may take, in milliseconds.' },
            workingDirectory: TEXT,
            env: { type: 'object', additionalProperties: TEXT, description: 'Environment variables to set.' },
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
    schema: object(
      {
        callId: { ...TEXT, description: 'Any name for this call.' },
        operation: object(
          {
            type: operation('create_file', 'update_file', 'delete_file'),
            path: { ...TEXT, description: 'The path of the file, within the project.' },
            diff: { ...TEXT, description: 'The diff; left out to delete a file.' },
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

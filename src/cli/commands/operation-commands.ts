import { tagDescriptions } from '../../admin/http/openapi/operation-words.ts'
import type { NamedOperation } from '../../admin/operation-table.ts'
import { toFlag } from '../../lib/renamed-options.ts'
import type { CliAction, CliCommand } from './command.ts'
import { type ActionDetails, createAction } from './operation-action.ts'

/** Details of a command that can't be derived from its operations. */
export interface CommandDetails {
  help?: string
  notes?: string
  /** Details by the action's words. `operation` adds an action for that operation, after the preceding action in this list. */
  actions?: Readonly<Record<string, ActionDetails & { operation?: string }>>
}

/** The words for operations that don't use the words derived from their name. */
const COMMAND_WORDS: Readonly<Record<string, readonly [command: string, action: string]>> = {
  'settings.get': ['settings', 'list'],
  'cloud.get': ['cloud', 'state'],
  'aliases.set': ['aliases', 'update'],
  'models.published': ['models', 'list'],
  'customModels.list': ['models', 'custom'],
  'customModels.create': ['models', 'create'],
  'customModels.delete': ['models', 'delete'],
  'customModels.put': ['models', 'put'],
  'damagedRecords.get': ['health', 'record'],
  'damagedRecords.put': ['health', 'repair'],
  'damagedRecords.delete': ['health', 'remove'],
}

/** Returns the words that call an operation, such as `keys` and `limits reset` for `keys.limits.reset`. */
export function toWords(names: readonly string[]): readonly [command: string, action: string] {
  const [command = '', ...action] = names.map(toFlag)
  const isNestedRead = action.length > 1 && /^(?:get|list)$/.test(action.at(-1) ?? '')
  return COMMAND_WORDS[names.join('.')] ?? [command, action.slice(0, isNestedRead ? -1 : undefined).join(' ')]
}

/** Creates the commands for operations: first the ones in `details`, in that order, then other resources' operations. */
export function createCommands(
  operations: readonly NamedOperation[],
  details: Readonly<Record<string, CommandDetails>>,
): Record<string, CliCommand> {
  const names = new Set([...Object.keys(details), ...operations.map((operation) => toWords(operation.names)[0])])
  return Object.fromEntries(Array.from(names, (name) => [name, createCommand(name, details[name] ?? {}, operations)]))
}

function createCommand(
  name: string,
  { help, notes, actions: special = {} }: CommandDetails,
  operations: readonly NamedOperation[],
): CliCommand {
  const commandOperations = operations.filter((operation) => toWords(operation.names)[0] === name)
  commandOperations.sort((a, b) => rankOperation(name, a) - rankOperation(name, b))
  const onlyOperation = commandOperations.find(({ names }) => names.length === 1)
  const defaultSummary =
    onlyOperation?.summary ?? tagDescriptions[name]?.replace(/\.$/, '') ?? `Manage ${name.replaceAll('-', ' ')}`
  let created: Record<string, CliAction> | undefined

  function createActions(): Record<string, CliAction> {
    const called = commandOperations.map((operation) => [toWords(operation.names)[1], operation] as const)
    for (const [index, [words, { operation: id }]] of Object.entries(special).entries()) {
      const previousIndex = called.findIndex(([other]) => other === Object.keys(special)[index - 1])
      const operation = operations.find(({ names }) => names.join('.') === id)
      if (operation) called.splice(previousIndex + 1, 0, [words, operation])
    }
    const actions: Record<string, CliAction> = {}
    for (const [words, operation] of called)
      actions[words] = createAction(operation, special[words] ?? {}, { command: name, words, actions, operations })
    return actions
  }

  return {
    help: help ?? defaultSummary,
    ...(notes !== undefined && { notes }),
    get actions() {
      created ??= createActions() // created only for the command that is called, because converting all schemas takes a while
      return created
    },
  }
}

/** Returns an action's sort rank: first the resource's actions, then its nested resources' actions, then other resources' actions. */
const rankOperation = (command: string, { names }: NamedOperation): number =>
  names[0] !== command ? 2 : names.length > 2 ? 1 : 0

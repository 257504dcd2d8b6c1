import { commands, operationActions } from '../../src/cli/commands/commands.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the actions of the command')

/** Those that are made of several operations, and those that are of none: a stream of events, and those that work on files. */
const COMPOSED = [
  'aliases create',
  'models update',
  'live',
  'init',
  'import 9router',
  'import litellm',
  'import portkey',
]

/** The texts in a tree. */
const textsIn = (tree: unknown): string[] =>
  typeof tree === 'string' ? [tree] : Object.values(Object(tree)).flatMap(textsIn)

test('the actions of the command are those that operations name, each once, and those that are made of several', () => {
  const named = textsIn(operationActions)
  const actions = Object.entries(commands).flatMap(([name, command]) =>
    Object.keys(command.actions).map((words) => `${name} ${words}`.trim()),
  )
  assert.equal([...named, ...COMPOSED].sort(), actions.sort())
})

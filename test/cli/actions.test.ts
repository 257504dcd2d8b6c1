import * as v from 'valibot'
import { serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { type FeatureOperations, listOperations } from '../../src/admin/operation-table.ts'
import { listCommands } from '../../src/cli/commands/commands.ts'
import { toWords } from '../../src/cli/commands/operation-commands.ts'
import { createGateway } from '../../src/gateway.ts'
import { listServedOperations } from '../../src/management/operations.ts'
import { TOKEN } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'
import { runHere } from './run-here.ts'

const test = suite('CLI actions')

test('every management API operation has an action', () => {
  const commands = listCommands()
  for (const { names } of listServedOperations()) {
    const [command, action] = toWords(names)
    assert.ok(commands[command]?.actions[action], `${command} ${action}`)
  }
})

test('no two operations have the same action', () => {
  const all = listServedOperations().map(({ names }) => toWords(names).join(' '))
  assert.equal(all.length, new Set(all).size)
})

/** Actions that use several operations or none: upserts, the event stream, and commands that work on files. */
const OTHERS = ['aliases create', 'models update', 'live', 'init', 'import 9router', 'import litellm', 'import portkey']

test('every action maps to one operation, except for the listed exceptions', () => {
  const operations = listServedOperations().map(({ names }) => toWords(names).join(' ').trim())
  const actions = Object.entries(listCommands()).flatMap(([name, command]) =>
    Object.keys(command.actions).map((text) => `${name} ${text}`.trim()),
  )
  assert.equal([...operations, ...OTHERS].sort(), actions.sort())
})

test('every option has a description', () => {
  for (const [name, command] of Object.entries(listCommands()))
    for (const [text, { fields = {} }] of Object.entries(command.actions))
      for (const [option, { help, label }] of Object.entries(fields))
        assert.ok(help !== '' || label === '', `${name} ${text} --${option}`)
})

const notes = new Map<string, { id: string; text: string; stars: number; labels: string[]; isPinned: boolean }>()
const note = v.object({
  id: v.string(),
  text: v.string(),
  stars: v.number(),
  labels: v.array(v.string()),
  isPinned: v.boolean(),
})

const added = {
  stickyNotes: {
    list: {
      method: 'GET',
      path: '/api/notes',
      failure: 'list notes',
      output: v.object({ notes: v.array(note) }),
      summary: 'List the notes',
      run: async () => ({ notes: [...notes.values()] }),
    },
    get: {
      method: 'GET',
      path: '/api/notes/:id',
      failure: 'fetch note',
      output: note,
      summary: 'Get a note',
      run: async (id: string) => ({ ...notes.get(id) }),
    },
    put: {
      method: 'PUT',
      path: '/api/notes/:id',
      failure: 'put note',
      input: v.strictObject({
        text: v.string('must be a string'),
        stars: v.exactOptional(v.number('must be a number')),
        labels: v.exactOptional(v.array(v.string())),
        isPinned: v.exactOptional(v.boolean()),
      }),
      output: note,
      summary: 'Write a note',
      description: 'Replaces the note with this id.',
      parameters: { text: 'The text of the note.', stars: 'How good it is.' },
      run: async (id: string, input: { text: string; stars?: number; labels?: string[]; isPinned?: boolean }) => {
        const { text, ...others } = input
        const written = { id, text, stars: 0, labels: [], isPinned: false, ...others }
        notes.set(id, written)
        return written
      },
    },
    delete: {
      method: 'DELETE',
      path: '/api/notes/:id',
      failure: 'delete note',
      output: v.object({ success: v.literal(true) }),
      summary: 'Delete a note',
      run: async (id: string) => ({ success: notes.delete(id) }),
    },
  },
} satisfies FeatureOperations

test("a feature's operation gets a command, options, help, and tables", async () => {
  const gateway = createGateway({
    storage: memoryStorage(),
    logger: false,
    management: { token: TOKEN },
    extend: [{ name: 'notes', operations: added }],
  })
  const serving = await serveNode(gateway, { port: 0 })
  const operations = [...listServedOperations(), ...listOperations(added)]
  const run = (...args: string[]) => runHere(serving.url, ['sticky-notes', ...args], { operations })

  assert.is((await run()).out, 'There are no notes.\n')
  const written = await run(
    'put',
    'one',
    '--text',
    'Buy milk',
    '--stars',
    '4',
    '--label',
    'a',
    '--label',
    'b',
    '--pinned',
  )
  assert.equal(
    [written.err, written.out],
    ['', 'id        one\ntext      Buy milk\nstars     4\nlabels    a, b\nisPinned  true\n'],
  )
  assert.is((await run('list')).out, 'ID   TEXT      STARS  PINNED\none  Buy milk  4      true\n')
  assert.equal(JSON.parse((await run('get', 'one', '--json')).out), notes.get('one'))
  assert.match((await run('put', 'one', '--stars', '4')).err, /^--text is required and /)
  assert.is((await run('delete', 'one')).out, 'Deleted note "one".\n')

  const { out } = await run('put', '--help')
  assert.match(
    out,
    /^Write a note\.\n\nReplaces the note with this id\.\n\nUsage: signalbox sticky-notes put <note> \[options\]\n/,
  )
  assert.match(
    out,
    /^ {2}--text <text> +The text of the note\n {2}--stars <number> +How good it is\n {2}--label <label> *\n {2}--\[no-\]pinned *\n/m,
  )
  assert.match(
    (await run('--help')).out,
    /^Usage: signalbox sticky-notes \[action\] \[options\]\n\nActions:\n {2}list +List the notes \(default\)\n/m,
  )
  await serving.close()
  await gateway.close()
})

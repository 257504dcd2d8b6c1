import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rewordForCli } from '../../src/cli/commands/wording.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('CLI wording')

/** The folders with errors and warnings that a command may show. */
const FOLDERS = [
  'admin',
  'management',
  'records',
  'features/cloud-sync',
  'features/explain',
  'features/listing',
  'features/usage/operations',
  'request/routing',
  'request/choose',
]
/** Excluded: routes, a string about another server, and one that the `signalbox explain` tests check in full. */
const NO_TEXTS = [
  'admin/http/',
  'management/management-api.ts',
  'features/cloud-sync/proxy/',
  'features/cloud-sync/gateway/cloud-enable.ts: `GET ',
  'request/choose/unknown-model.ts: ` The administrator sends POST ',
]

test('rewrites each HTTP call in a message as a CLI command', () => {
  const source = new URL('../../src/', import.meta.url).pathname
  const texts = FOLDERS.flatMap((folder) =>
    readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('-table.ts'))
      .flatMap((file) => {
        const code = readFileSync(join(source, folder, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        const found = code.match(/'[^'\n]*\/(?:api|v1)\/[^'\n]*'|`[^`\n]*\/(?:api|v1)\/[^`\n]*`/g) ?? []
        return found.map((text) => `${folder}/${file}: ${text}`)
      }),
  ).filter((text) => !NO_TEXTS.some((value) => text.startsWith(value)))
  assert.ok(texts.length > 10, `${texts.length}`)
  for (const text of texts)
    assert.not.match(rewordForCli(text.slice(text.indexOf(': ') + 2)), /\/api\/|\b(?:GET|POST|PUT|PATCH|DELETE) /, text)
})

const fields = {
  model: { type: 'string', member: 'models', help: '', read: (value: string) => value },
  active: { type: 'boolean', member: 'isActive', value: true, help: '', read: () => true },
  data: { type: 'string', help: '', read: (value: string) => value },
  paused: { type: 'boolean', member: 'isActive', value: false, help: '', read: () => false },
} as const

for (const [message, output] of [
  ['"models[3]" must not be blank', '--model must not be blank'],
  ['"models[3].weight" must be a number', '"models[3].weight" must be a number'],
  ['Bedrock needs "providerSpecificData.region".', 'Bedrock needs "providerSpecificData.region" of --data.'],
  ['Set "isActive" to false.', 'Set --paused.'],
  [
    'Cloud sync is off. Turn it on first: POST /api/sync/cloud with the action "enable".',
    'Cloud sync is off. Turn it on first: "signalbox cloud enable".',
  ],
  [
    'Send "isActive", "name", or another field to change.',
    'Pass --active or --paused, "name", or another field to change.',
  ],
  [
    'The model "models" does not exist. GET /ai/v1/models lists all of them.',
    'The model --model does not exist. "signalbox models" lists all of them.',
  ],
] as const)
  test(`rewrites for the CLI: ${message}`, () => {
    assert.is(rewordForCli(message, fields), output)
  })

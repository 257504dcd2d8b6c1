import { serveNode } from '../../adapters/mount/node.ts'
import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'
import { runHere } from './run-here.ts'

type Server = Awaited<ReturnType<typeof serveNode>>

const test = suite('wrong CLI usage', {
  serving: undefined as Server | undefined,
  url: '',
  management: openManagement({}),
})

test.before(async (context) => {
  context.serving = await serveNode(context.management.gateway, { port: 0 })
  context.url = context.serving.url
  await context.management.gateway.api.groups.create({ name: 'Team' })
  await context.management.gateway.api.keys.create({ name: 'app' })
})

test.after(({ serving }) => serving?.close())

/** Invalid command lines, and the message that each one prints. */
const rejected: ReadonlyArray<[line: string, says: string]> = [
  [
    'keys create a --limit usd=5',
    '--limit "usd=5" needs one of minute, hour, day, week, month, total after "usd.". Example: --limit usd.day=5',
  ],
  [
    'groups create a --limit tokens=5',
    '--limit "tokens=5" needs one of minute, hour, day, week, month, total after "tokens.". Example: --limit usd.day=5',
  ],
  [
    'settings update --limit usd.dya=5',
    '--limit "usd.dya=5" has an unknown part "dya" (did you mean "day"?). Example: --limit usd.day=5',
  ],
  [
    'keys create a --limit dollars.day=5',
    '--limit "dollars.day=5" needs one of requests, tokens, usd, parallel. Example: --limit usd.day=5',
  ],
  ['keys create a --limit 5', '--limit "5" needs one of requests, tokens, usd, parallel. Example: --limit usd.day=5'],
  [
    'keys create a --limit usd.=5',
    '--limit "usd.=5" needs one of minute, hour, day, week, month, total after "usd.". Example: --limit usd.day=5',
  ],
  [
    'keys create a --limit parallel.day=5',
    `--limit "parallel.day=5" can't have "day" after "parallel", which is a number. Example: --limit usd.day=5`,
  ],
  ['keys create a --limit usd.day', '--limit "usd.day" needs a number. Example: --limit usd.day=5'],
  ['keys create a --limit usd.day=$5', '--limit "usd.day=$5" needs a number. Example: --limit usd.day=5'],
  ['keys create a --limit usd.day=-5', '--limit usd.day must be a number above 0 and up to 9007199.'],
  ['keys create a --limit requests.day=1.5', '--limit requests.day must be a whole number from 1 to 9007199254740991.'],
  ['keys create a --limit usd.day=5 --limit usd.day=6', '--limit sets "usd.day" twice. Set it once.'],
  ['keys create a --metadata team=a --metadata team=b', '--metadata sets "team" twice. Set it once.'],
  ['keys create a --group Team --group Other', '--group is set twice, to different values. Set it once.'],
  ['usage --by key --by model', '--by is set twice, to different values. Set it once.'],
  [
    'keys list --url http://127.0.0.1:1 --url http://127.0.0.1:2',
    '--url is set twice, to different values. Set it once.',
  ],
  ['keys create a --name b', '"a" and --name conflict. Use only one of them.'],
  [
    'combos create fast openai/gpt-5 --model openai/gpt-5-mini',
    '"openai/gpt-5" and --model conflict. Use only one of them.',
  ],
  ['aliases create quick fast --model slow', '"fast" and --model conflict. Use only one of them.'],
  ['models create openai/x --id y', '"x" and --id conflict. Use only one of them.'],
  ['usage --csv --json', '--csv and --json conflict. Use only one of them.'],
  ['usage requests --json --csv', '--csv and --json conflict. Use only one of them.'],
  ['usage --from 7d --since 8d', '--from and --since conflict. Use only one of them.'],
  [
    'usage --since soon',
    '--since "soon" is not a valid time. Use an age (30m, 24h, 7d, 2w), today, yesterday, or a date such as 2027-01-31.',
  ],
  ['usage --since 1d --until 2d', '--to must be after --from.'],
  ['keys create a --group Taem', 'There is no group "Taem". Did you mean "Team"?'],
  ['explain openai/gpt-5 --key-id apq', 'There is no key "apq". Did you mean "app"?'],
]

for (const [line, message] of rejected)
  test(`explains the mistake in: signalbox ${line}`, async ({ url }) => {
    const { code, out, err } = await runHere(url, line)
    assert.equal([code, out, err], [1, '', `${message}\n`])
  })

test('accepts an option repeated with the same value, and different values for a repeatable option', async ({
  url,
}) => {
  for (const line of [
    'keys create a --name a',
    'keys create b --group Team --group Team',
    'keys create c --limit usd.day=5 --limit usd.month=20 --limit parallel=4 --metadata a=1 --metadata b=2',
  ]) {
    const { code, err } = await runHere(url, line)
    assert.equal([code, err], [0, ''], line)
  }
})

test('accepts a group name in place of its ID', async ({ url, management }) => {
  const { id } = await management.gateway.api.groups.create({ name: 'Interns' })
  await runHere(url, 'keys create trainee --group Interns')
  const member = async () =>
    (await management.gateway.api.keys.list()).keys.find(({ name }) => name === 'trainee')?.group
  assert.is(await member(), id)
  await runHere(url, 'keys update trainee --group Team')
  assert.is.not(await member(), id)
  await runHere(url, `keys update trainee --group ${id}`)
  assert.is(await member(), id)
})

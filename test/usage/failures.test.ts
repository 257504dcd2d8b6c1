import { assert, suite } from '../support/suite.ts'
import { clients, getUsage, providers } from './support/reporting.ts'

const test = suite('usage in failure events')

const REPORTED = { input: 40, output: 1_200 }

for (const [provider, speaking] of Object.entries(providers))
  for (const [client, send] of Object.entries(clients))
    for (const [label, text, stream] of [
      ['after partial output', 'Hello there ', true],
      ['before any output', '', true],
      ['in a non-streaming response', 'Hello there ', false],
    ] as const)
      test(`usage reported with a failure ${label} is counted (${client} client, ${provider} provider)`, async () => {
        for (const end of speaking.failures(speaking.usage(REPORTED))) {
          const { counts, source, usd } = await getUsage(
            () => speaking.failing(end, text),
            send(`${provider}/m`, stream),
          )
          assert.equal([counts, source, usd], [REPORTED, 'counted', (40 + 12_000) / 1e6], end)
        }
      })

import { once } from 'node:events'
import { writeSync } from 'node:fs'
import process from 'node:process'
import { createGateway } from '../../../src/gateway.ts'
import { openStore } from '../../services/open-store.ts'
import { ALLOWED_USD, PER_PROCESS, SECRET, USD_PER_REQUEST } from './first-requests.ts'

/*
 * A process with a gateway on a store that it shares with other processes: `asker <store> <token>`. It prints "ready", waits for a line, and then
 * sends all requests concurrently: with the token, or without a token as a new account. It prints how often each status was returned, and the body of
 * unexpected responses.
 */

const [location = '', token = ''] = process.argv.slice(2)
const { storage, end } = await openStore(location)
const completion = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const gateway = createGateway({
  storage,
  ...(!storage.ownSecret && { secret: SECRET }),
  logger: false,
  catalog: {
    one: { baseUrl: 'http://one.test', models: [{ id: 'm', price: { input: 0, output: USD_PER_REQUEST * 1e6 } }] },
  },
  limits: { maxParallelRequests: PER_PROCESS },
  fetch: async () => Response.json(completion),
})
const { fetch } = token ? gateway : gateway.as({ account: 'user_1', limits: { usd: { total: ALLOWED_USD } } })

print('ready')
await once(process.stdin.setEncoding('utf8'), 'data')
process.stdin.destroy()
const answered: Record<string, number> = {}
await Promise.all(
  Array.from({ length: PER_PROCESS }, async () => {
    const response = await fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ model: 'one/m', max_tokens: 1, messages: [] }),
    })
    const text = await response.text()
    const outcome = [200, 402, 429].includes(response.status) ? response.status : text
    answered[outcome] = (answered[outcome] ?? 0) + 1
  }),
)
await gateway.close()
await storage.close?.()
await end()
print(`answered ${JSON.stringify(answered)}`)

function print(line: string): void {
  writeSync(1, `${line}\n`)
}

import { openGateway } from './open-gateway.mjs'

/** Fills a store with `RECORDS` usage records, by sending that many requests through a gateway with a mock provider. */
const records = Number(process.env.RECORDS)
const usage = { prompt_tokens: 24, completion_tokens: 48, total_tokens: 72 }
const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]
const answer = JSON.stringify({ id: 'c1', object: 'chat.completion', created: 1, model: 'bench', choices, usage })
const body = JSON.stringify({ model: 'chat-100x0', messages: [{ role: 'user', content: 'Hi' }] })
const respond = async () => new Response(answer, { headers: { 'content-type': 'application/json' } })

/**
 * The number of requests per gateway. It's less than the number of records that a gateway queues, so closing it writes a record for every request
 * instead of only counting some.
 */
const BATCH = 5_000
const CONCURRENT = 100

let keys = {}
for (let sent = 0; sent < records; sent += BATCH) {
  const { gateway, storage, keys: made } = await openGateway({ fetch: respond })
  if (made.key) keys = made
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${keys.key}` }
  let left = Math.min(BATCH, records - sent)
  const sendSome = async () => {
    while (left-- > 0) {
      const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', headers, body })
      const response = await gateway.fetch(request)
      await response.text()
      if (response.status !== 200) throw new Error(`The gateway returned ${response.status} for a record.`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, sendSome))
  await gateway.close()
  await storage.close?.()
}
const { gateway, storage } = await openGateway()
const { totals } = await gateway.api.usage.summary()
await gateway.close()
await storage.close?.()
console.log(JSON.stringify({ url: '', ...keys, records: totals.requests }))
process.exit()

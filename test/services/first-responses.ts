import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import process from 'node:process'
import { createGateway } from '../../src/gateway.ts'
import { openStore } from './open-store.ts'

/*
 * A process that starts on a store with data: `first-responses <location> <secret> <token> <key>`. It sends its first requests concurrently, and
 * prints each response with the time since the process started. It also prints the CPU time of the entire startup, and of the cryptography alone on
 * this machine: one AES-256-GCM decryption and one HMAC-SHA-256 per key. All times are in ms.
 */

const [location = '', secret = '', token = '', key = ''] = process.argv.slice(2)
const { storage } = await openStore(location)
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const gateway = createGateway({
  storage,
  secret,
  logger: false,
  management: { token },
  fetch: async () => Response.json(completion),
})

const requests = {
  request: ['/v1/chat/completions', key, JSON.stringify({ model: 'openai/gpt-5', messages: [] })],
  models: ['/v1/models', key],
  keys: ['/api/keys', token],
} as const

const responses = Object.entries(requests).map(async ([name, [path, bearer, body]]) => {
  const response = await gateway.fetch(
    new Request(`http://gateway${path}`, {
      headers: { authorization: `Bearer ${bearer}` },
      ...(body !== undefined && { method: 'POST', body }),
    }),
  )
  const text = await response.text()
  const ms = Math.round(performance.now()) // since the process started
  return [name, { status: response.status, ms, keys: name === 'keys' ? JSON.parse(text).keys?.length : undefined }]
})
const answered = Object.fromEntries(await Promise.all(responses))
const cpuMs = processorMs()
const keys = answered.keys?.keys ?? 0
writeSync(1, `answers ${JSON.stringify({ answered, cpuMs, cryptographyMs: cryptographyMs(keys) })}\n`)
process.exit()

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return Math.round((user + system) / 1_000)
}

function cryptographyMs(keys: number): number {
  const secret = createSecretKey(randomBytes(32))
  const [iv, text] = [randomBytes(12), randomBytes(52)]
  const cipher = createCipheriv('aes-256-gcm', secret, iv)
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  const tag = cipher.getAuthTag()
  const from = processorMs()
  for (let done = 0; done < keys; done++) {
    const decipher = createDecipheriv('aes-256-gcm', secret, iv).setAuthTag(tag)
    decipher.update(sealed)
    decipher.final()
    createHmac('sha256', secret).update(text).digest()
  }
  return processorMs() - from
}

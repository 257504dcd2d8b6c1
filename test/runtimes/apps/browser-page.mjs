// The actions that tests run on a page, which go through the gateway in its service worker.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'

const place = `${location.origin}/ai`
const messages = [{ role: 'user', content: 'Hi' }]
const options = { apiKey: 'nothing', dangerouslyAllowBrowser: true, maxRetries: 0 }
const openai = new OpenAI({ baseURL: `${place}/v1`, ...options })
const anthropic = new Anthropic({ baseURL: place, ...options })

const told = ({ name, status, message }) => ({ name, status, message })

globalThis.actions = {
  async register() {
    await navigator.serviceWorker.register('/worker.js')
    if (!navigator.serviceWorker.controller)
      await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
  },

  async call(path, { body, ...init } = {}) {
    const headers = { 'content-type': 'application/json', ...init.headers }
    const response = await fetch(path, { ...init, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await response.text()
    return { status: response.status, text, target: response.headers.get('x-signalbox-target') }
  },

  async openai(model) {
    const { choices } = await openai.chat.completions.create({ model, messages })
    return choices[0].message.content
  },

  async anthropic(model) {
    const { content } = await anthropic.messages.create({ model, messages, max_tokens: 9 })
    return content[0].text
  },

  /** Returns a stream's chunks and its error. After each chunk, it tells the provider to send the next one. */
  async openaiStream(model, step) {
    const pieces = []
    try {
      for await (const { choices } of await openai.chat.completions.create({ model, messages, stream: true })) {
        const piece = choices[0]?.delta.content
        if (!piece) continue
        pieces.push(piece)
        await fetch(step)
      }
      return { pieces }
    } catch (error) {
      return { pieces, error: told(error) }
    }
  },

  async anthropicStream(model, step) {
    const pieces = []
    try {
      const stream = await anthropic.messages.create({ model, messages, max_tokens: 9, stream: true })
      for await (const { type, delta } of stream) {
        if (type !== 'content_block_delta') continue
        pieces.push(delta.text)
        await fetch(step)
      }
      return { pieces }
    } catch (error) {
      return { pieces, error: told(error) }
    }
  },

  /** Starts a stream and cancels it after the first chunk. */
  async leave(model) {
    const stream = await openai.chat.completions.create({ model, messages, stream: true })
    for await (const _ of stream) stream.controller.abort()
  },
}

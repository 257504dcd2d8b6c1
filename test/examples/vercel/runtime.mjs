import { Server } from 'node:http'
import process from 'node:process'

/*
 * The platform's function runtime, loaded before the server. Only work passed to `waitUntil` keeps the instance alive after a response. With
 * `TAKEN_AFTER_RESPONSE`, the instance is killed once it is idle after a request. It can only reach Neon at `NEON` and the provider at `PROVIDER`.
 */

const { NEON, PROVIDER, TAKEN_AFTER_RESPONSE } = process.env
const works = new Set()
let requests = 0

const takeIfIdle = () => {
  if (TAKEN_AFTER_RESPONSE && requests === 0 && works.size === 0) process.kill(process.pid, 'SIGKILL')
}

const waitUntil = (work) => {
  works.add(work)
  const settle = () => {
    works.delete(work)
    setImmediate(takeIfIdle) // by then, follow-up work that starts when it settles has been registered
  }
  work.then(settle, settle)
}
globalThis[Symbol.for('@next/request-context')] = { get: () => ({ waitUntil }) }

const { emit } = Server.prototype
Server.prototype.emit = function (name, ...values) {
  if (name === 'request') {
    requests++
    values[1].once('close', () => {
      requests--
      setImmediate(takeIfIdle)
    })
  }
  return emit.call(this, name, ...values)
}

const { fetch } = globalThis
globalThis.fetch = (input, init) => {
  const { hostname, pathname } = new URL(input instanceof Request ? input.url : input)
  if (hostname.endsWith('.neon.test')) return fetch(NEON, init)
  if (hostname === 'api.openai.com') return fetch(PROVIDER + pathname, init)
  throw new TypeError(`no network: ${hostname}`)
}

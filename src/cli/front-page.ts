import { UNCACHED } from '../http/reply.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { VERSION } from '../lib/version.ts'
import { addresses, firstSteps } from './welcome.ts'

/**
 * The reply of the command to `GET /`: what answers here and where to begin, as a page for browsers and as text for other clients; `undefined`
 * for other requests, and for tools that ask for JSON. It needs no credential and so holds nothing about the data.
 */
export function frontPage(exchange: Exchange, listenUrl: string): Reply | undefined {
  const { method, path } = exchange
  if (path !== '/' || (method !== 'GET' && method !== 'HEAD')) return undefined
  const accept = exchange.header('accept') ?? ''
  const isPage = accept.includes('text/html')
  if (!isPage && accept.includes('application/json')) return undefined
  const text = textOf(addressOf(exchange) ?? listenUrl)
  const type = isPage ? 'text/html' : 'text/plain'
  const headers = { ...UNCACHED, ...HEADERS, 'content-type': `${type}; charset=utf-8` }
  return { status: 200, headers, ...(method === 'GET' && { body: isPage ? pageOf(text) : text }) }
}

const HEADERS = { vary: 'Accept', 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" }

/** The address that the client has used, when it can only be that: it becomes part of commands that are pasted into a shell. */
function addressOf(exchange: Exchange): string | undefined {
  const host = exchange.header('host') ?? ''
  const scheme = exchange.header('x-forwarded-proto') === 'https' ? 'https' : 'http'
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host) ? `${scheme}://${host}` : undefined
}

function textOf(baseUrl: string): string {
  const blocks = [
    `Signalbox ${VERSION}: a gateway between clients of language models and the providers that you connect.`,
    addresses(baseUrl),
    ...firstSteps({ baseUrl, token: undefined }),
    `GET ${baseUrl}/health says whether it is up, GET ${baseUrl}/v1/models lists the models.`,
    'The README describes the management API and all options; signalbox --help lists those of the command.',
  ]
  return `${blocks.join('\n\n')}\n`
}

const pageOf = (text: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signalbox</title>
<style>body { margin: 2rem; color-scheme: light dark } pre { white-space: pre-wrap }</style>
<pre>${text.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</pre>
`

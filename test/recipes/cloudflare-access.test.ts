import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { startWorker } from '../runtimes/worker.ts'
import { assert } from '../support/suite.ts'
import { openApp } from './app.ts'
import { addRecipeTests } from './scenario.ts'

const AUDIENCE = 'a-tag-of-an-access-application'
const { publicKey, privateKey } = await generateKeyPair('RS256')
const other = await generateKeyPair('RS256')
let team = ''

/** Creates a token like Access does. */
function getToken(user: string, { audience = AUDIENCE, issuer = team, expires = '1h', key = privateKey } = {}) {
  const payload = { email: `${user}@example.com`, type: 'app', identity_nonce: 'n', country: 'NL' }
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    .setSubject(user)
    .setAudience([audience])
    .setIssuer(issuer)
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(key)
}
const getHeaders = async (token: Promise<string>) => ({ 'cf-access-jwt-assertion': await token })

const test = addRecipeTests(
  'cloudflare-access',
  (_origin, user) => getHeaders(getToken(user)),
  async (providerUrl) => {
    const certs = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }] })
    const front = createServer((req, res) => {
      const isFound = req.url === '/cdn-cgi/access/certs'
      res.writeHead(isFound ? 200 : 404, { 'content-type': 'application/json' }).end(isFound ? certs : '{}')
    })
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
    team = `http://127.0.0.1:${(front.address() as AddressInfo).port}` // a TCP server's address is never a string

    const { folder, files, remove } = await openApp('cloudflare-access', { providerUrl })
    const config = JSON.parse((files.get('wrangler.jsonc') ?? '').replaceAll(/(?<=^|\s)\/\/.*$/gm, ''))
    assert.equal(Object.keys(config.vars), ['TEAM_DOMAIN', 'POLICY_AUD'])
    const [{ name, class_name: className }] = config.durable_objects.bindings
    const worker = await startWorker(pathToFileURL(join(folder, config.main)), {
      compatibilityDate: config.compatibility_date,
      compatibilityFlags: config.compatibility_flags,
      durableObjects: { [name]: { className, useSQLite: config.migrations[0].new_sqlite_classes.includes(className) } },
      bindings: {
        TEAM_DOMAIN: team,
        POLICY_AUD: AUDIENCE,
        OPENAI_API_KEY: 'sk-openai',
        SIGNALBOX_SECRET: 's'.repeat(32),
      },
    })
    const close = async () => {
      await worker.stop()
      front.close()
      front.closeAllConnections()
      await remove()
    }
    return { origin: worker.url, close }
  },
)

for (const [label, token] of Object.entries({
  'for another application': () => getToken('grace', { audience: 'another' }),
  'from another team': () => getToken('grace', { issuer: 'https://another.cloudflareaccess.com' }),
  'that is expired': () => getToken('grace', { expires: '-1h' }),
  'signed by another key': () => getToken('grace', { key: other.privateKey }),
}))
  test(`cloudflare-access: a token ${label} gets a 401`, async ({ app }) => {
    const response = await fetch(`${app.origin}/ai/v1/models`, { headers: await getHeaders(token()) })
    assert.is(response.status, 401)
    assert.is((await response.json()).error.code, 'identity_required')
  })

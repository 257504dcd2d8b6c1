import { createNodeFetch, serveNode } from '../../adapters/mount/node.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import { defaultCatalog } from '../providers/catalog.ts'
import type { Logger } from '../types.ts'
import { isLoopback } from './address.ts'
import { openAdminToken } from './admin-token.ts'
import { applyConfig, type DataAccess } from './apply-config.ts'
import { openData } from './data.ts'
import { demoCatalog } from './demo/providers.ts'
import { withDemoRecords } from './demo/storage.ts'
import { withDemo } from './demo/upstream.ts'
import { applyEnvironment } from './env-connections.ts'
import type { Environment, Variables } from './environment.ts'
import { requireFreePort } from './free-port.ts'
import { frontPage } from './front-page.ts'
import type { Terminal } from './logger.ts'
import type { CliOptions } from './options.ts'
import { problem } from './problem.ts'
import { requestLog } from './request-log.ts'
import type { Welcome } from './welcome.ts'

/** A gateway that listens. */
export interface Running {
  welcome: Welcome
  /** Accepts nothing new, lets answers under way finish for `graceMs`, then ends. */
  stop(options: { graceMs: number }): Promise<void>
}

export interface StartContext {
  environment: Environment
  variables: Variables
  logger: Logger
  terminal: Terminal
}

/** For the error that ends a stream which has used up its time, before its connection is cut. */
const FAREWELL_MS = 250

/** Asks for the port, opens the data, checks that all of it can be read, and listens. Throws whatever speaks against it. */
export async function start(
  options: CliOptions,
  { environment, variables, logger, terminal }: StartContext,
): Promise<Running> {
  const { secret, adminToken: given } = environment
  const config = await readConfig(options, variables)
  await requireFreePort(options)
  const storage = await openData(options.data, secret, logger)
  const data = { storage, catalog: defaultCatalog, secret }
  if (config) await config.apply(data)
  const envConnections = await applyEnvironment(options.env && !options.demo ? variables : {}, data)
  const upstream = createNodeFetch()
  const adminToken = await openAdminToken({ folder: options.data, given, renew: options.newToken })
  const gateway = createGateway({
    storage: options.demo ? await withDemoRecords(storage, logger) : storage,
    catalog: options.demo ? { ...defaultCatalog, ...demoCatalog } : defaultCatalog,
    fetch: options.demo ? withDemo(upstream) : upstream,
    management: adminToken.management,
    allowedOrigins: options.allowedOrigins,
    logger,
    ...(secret === undefined ? {} : { secret }),
    ...(options.log ? { hooks: requestLog(terminal.out) } : {}),
  })
  const { requireApiKey, isInUse } = await readEverything(gateway, logger)
  if (!requireApiKey && !options.open && !isLoopback(options.host)) throw openToAll(options.host)
  const { port, host: hostname, allowedHosts } = options
  const { basePath, matches, exchange } = gateway
  const elsewhere: Gateway['elsewhere'] = (asked) => frontPage(asked, server.url) ?? gateway.elsewhere(asked)
  const server = await serveNode(
    { basePath, matches, exchange, elsewhere },
    {
      port,
      hostname,
      hostAdvice: 'To let it in, start with --allowed-host and its name.',
      ...(allowedHosts.length > 0 && { allowedHosts }),
    },
  )

  async function stop({ graceMs }: { graceMs: number }) {
    await Promise.all([gateway.close({ graceMs }), server.close({ graceMs: graceMs + FAREWELL_MS })])
    upstream.close()
    await storage.close?.()
  }

  try {
    const token = await adminToken.mint() // last, so that a start which fails loses no token
    const openTo = isLoopback(options.host) ? undefined : options.host
    const { demo } = options
    return {
      welcome: {
        baseUrl: server.url,
        data: options.data,
        token,
        isTokenGiven: given !== undefined,
        demo,
        requireApiKey,
        isInUse,
        envConnections,
        openTo,
        isWindows: process.platform === 'win32',
      },
      stop,
    }
  } catch (error) {
    await stop({ graceMs: 0 })
    throw error
  }
}

/** The file of `--config` as a function that writes it to the data. Loaded only when it is asked for: it brings a parser of YAML. */
async function readConfig({ config: path }: CliOptions, variables: Variables) {
  if (path === undefined) return undefined
  const { readConfigFile } = await import('./config-file.ts')
  const config = await readConfigFile(path, variables)
  return { apply: (data: DataAccess) => applyConfig(config, data) }
}

const openToAll = (host: string) =>
  problem(
    `--host ${host} opens this gateway to the network while no key is required of clients: whoever reaches it spends your money. Require keys first: start without --host and PATCH /api/settings with {"requireApiKey":true}, or put settings: { requireApiKey: true } into a --config file. If it is meant to be open, add --open.`,
  )

/**
 * Opens every other record and credential once: what is damaged is found now, not by the request that needs it. A credential that cannot
 * be opened is told and stays, so that it can be replaced.
 */
async function readEverything({ api }: Gateway, logger: Logger): Promise<{ requireApiKey: boolean; isInUse: boolean }> {
  const { requireApiKey } = await api.settings.get()
  const { connections } = await api.connections.list()
  await Promise.all([api.combos.list(), api.customModels.list(), api.aliases.list()])
  for (const { name, id, error } of connections) if (error) logger.warn(`${name}: ${error}`, { id })
  return { requireApiKey, isInUse: connections.length > 0 }
}

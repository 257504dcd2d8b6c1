import { createServer, isIP } from 'node:net'
import { createNodeFetch, serveNode } from '../../adapters/mount/node.ts'
import type { GatewayConfig } from '../config/define-config.ts'
import { isGatewayError } from '../errors.ts'
import { isCatalogOptions } from '../features/catalog/catalog-options.ts'
import type { Hooks } from '../features/observe/hooks.ts'
import { jsonLog } from '../features/observe/log.ts'
import type { GatewayObserver } from '../features/observe/observer.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import type { GatewayOptions } from '../options.ts'
import { defaultCatalog } from '../protocols/providers/catalog.ts'
import type { Logger } from '../types.ts'
import { openAdminToken } from './admin-token.ts'
import type { CliOptions, Environment, Variables } from './cli-options.ts'
import { replaceCallsWithCommands } from './commands/wording.ts'
import { type DataAccess, openData, withManagement } from './data-folder.ts'
import { demoCatalog, withDemoRecords } from './demo/demo-providers.ts'
import { writeHistory } from './demo/history.ts'
import { withDemo } from './demo/upstream.ts'
import { applyEnvironment } from './env-connections.ts'
import { openProxies } from './environment-proxies.ts'
import { createRequestLog, describeError, type Terminal, toOneLine } from './logger.ts'
import { createProblem, isProblem, type Problem } from './problem.ts'
import { createConfigReloader } from './reload-config.ts'
import { formatWelcome, serveFrontPage } from './welcome.ts'

/** A gateway that is listening. */
export interface RunningGateway {
  /** The text to print. */
  welcome: string
  /** Applies the config file again, and logs the result. Absent without a file. Never rejects. */
  reload?: () => Promise<void>
  /** Stops accepting requests, lets in-flight responses finish for up to `graceMs`, then shuts down. */
  stop(options: { graceMs: number }): Promise<void>
}

export interface StartContext {
  environment: Environment
  variables: Variables
  logger: Logger
  terminal: Terminal
}

/** How long, in ms, a stream that has used up its time may take to send its final error before its connection is closed. */
const FINAL_ERROR_MS = 250

/** Checks that the port is free, opens and reads all data, and starts listening. Throws the first problem. */
export async function start(
  options: CliOptions,
  { environment, variables, logger, terminal }: StartContext,
): Promise<RunningGateway> {
  const { secret, adminToken: configuredToken } = environment
  const config = await readConfig(options, variables, logger)
  await requireFreePort(options)
  const storage = await openData(options.data, secret, logger)
  const catalogOption = config?.code?.catalog ?? defaultCatalog
  const catalog = isCatalogOptions(catalogOption) ? (catalogOption.base ?? defaultCatalog) : catalogOption
  const data = { storage, catalog, secret }
  const warnings = (await config?.apply(data)) ?? []
  const code = config?.code ?? {}
  const definedProviders = Object.entries(code.connections ?? {}).map(([id, input]) => input?.provider ?? id)
  const usedVariables = options.env && !options.demo ? variables : {}
  const envConnections = await withManagement(data, (api) =>
    applyEnvironment(usedVariables, api, { catalog, definedProviders }),
  )
  for (const warning of [...warnings, ...((await config?.warnings(data)) ?? [])]) logger.warn(warning)
  const dispatcher = await openProxies(variables)
  const network = createNodeFetch({ ...(dispatcher && { dispatcher }) })
  const upstream = options.demo ? withDemo(network) : network
  const adminToken = await openAdminToken({
    folder: options.data,
    configuredToken,
    renew: options.newToken,
  })
  const hasDashboard = options.dashboard || isLoopback(options.host)
  const metrics = options.metrics ? [await openMetrics(variables)] : []
  const log = options.log === 'text' ? createRequestLog(terminal.out) : {}
  const gateway = createConfigured(config?.path, {
    ...code,
    storage: options.demo
      ? await withDemoRecords(storage, logger, (demoStorage) =>
          writeHistory({ storage: demoStorage, secret, upstream, now: Date.now() }),
        )
      : storage,
    catalog: options.demo ? { ...catalog, ...demoCatalog } : catalogOption,
    fetch: upstream,
    management: adminToken.management,
    allowedOrigins: [...(code.allowedOrigins ?? []), ...options.allowedOrigins],
    logger,
    ...(secret === undefined ? {} : { secret }),
    hooks: mergeHooks(code.hooks, log),
    observe: [...(code.observe ?? []), ...(options.log === 'json' ? [jsonLog(terminal.out)] : []), ...metrics],
    ...(hasDashboard && { dashboard: (await import('../features/dashboard/dashboard.ts')).dashboard() }),
  })
  const { requireApiKey, isInUse } = await checkCredentials(gateway, logger)
  if (!requireApiKey && !options.open && !isLoopback(options.host)) throw createOpenProblem(options.host)
  const { port, host: hostname, allowedHosts } = options
  const { basePath, matches, exchange } = gateway
  const notFound: Gateway['notFound'] = (incoming) =>
    serveFrontPage(incoming, { listenUrl: server.url, hasDashboard }) ?? gateway.notFound(incoming)
  const server = await serveNode(
    { basePath, matches, exchange, notFound },
    {
      port,
      hostname,
      hostAdvice: 'To accept it, restart with --allowed-host and this hostname.',
      ...(allowedHosts.length > 0 && { allowedHosts }),
    },
  )

  const reloader =
    config &&
    createConfigReloader({
      path: config.path,
      watches: config.code !== undefined,
      logger,
      async apply() {
        const found = await config.reload(gateway, data)
        await applyEnvironment(usedVariables, gateway.api, { catalog }) // a connection in the file replaces the one from a variable
        return found
      },
    })

  async function stop({ graceMs }: { graceMs: number }) {
    reloader?.close()
    await Promise.all([gateway.close({ graceMs }), server.close({ graceMs: graceMs + FINAL_ERROR_MS })])
    network.close()
    await dispatcher?.destroy()
    await storage.close?.()
  }

  try {
    const token = await adminToken.mint() // last, so a failed start doesn't use up the token
    const exposedHost = isLoopback(options.host) ? undefined : options.host
    const { demo } = options
    return {
      welcome: formatWelcome({
        baseUrl: server.url,
        data: options.data,
        token,
        isTokenConfigured: configuredToken !== undefined,
        demo,
        requireApiKey,
        isInUse,
        envConnections,
        externalUrl: exposedHost,
        hasDashboard,
        isWindows: process.platform === 'win32',
      }),
      ...(reloader && { reload: reloader.reload }),
      stop,
    }
  } catch (error) {
    await stop({ graceMs: 0 })
    throw error
  }
}

/** A config file: its code, or functions that write its records to the data. */
interface OpenedConfig {
  path: string
  code?: GatewayConfig
  apply(data: DataAccess): Promise<string[]>
  warnings(data: DataAccess): Promise<string[]>
  /** Reads the file again, and applies it to a running gateway. Resolves to warnings. Throws the first problem, before anything has changed. */
  reload(gateway: Gateway, data: DataAccess): Promise<string[]>
}

/**
 * Reads the `--config` file, or `signalbox.config.ts` in the working folder. The code for each type of file is loaded only when needed, because it
 * includes a YAML parser.
 */
async function readConfig(
  options: CliOptions,
  variables: Variables,
  logger: Logger,
): Promise<OpenedConfig | undefined> {
  const { config: configPath, demo } = options
  if (configPath === 'none') return undefined
  const { findCodeFile, isCodeFile, loadCodeFile } = await import('./code-file.ts')
  const path = configPath ?? (demo ? undefined : await findCodeFile('.'))
  if (path === undefined) return undefined
  if (isCodeFile(path)) {
    const code = await loadCodeFile(path)
    if (configPath === undefined) logger.warn(`Using ${path} of this folder. To ignore it, start with --config none.`)
    let [current, reloads] = [code, 0]
    return {
      path,
      code,
      apply: async () => [],
      warnings: async () => [],
      async reload(gateway) {
        const next = await loadCodeFile(path, ++reloads)
        requireUnchangedKeys(options, path, next.settings?.requireApiKey ?? !current.settings?.requireApiKey)
        await gateway.reload(next).catch((error: unknown) => rethrowConfigProblem(path, error))
        current = next
        return []
      },
    }
  }
  const { applyConfig, listConfigWarnings, readConfigFile, reapplyConfig } = await import('./config-file.ts')
  const config = await readConfigFile(path, variables)
  return {
    path,
    apply: (data: DataAccess) => applyConfig(config, data),
    warnings: (data: DataAccess) => listConfigWarnings(config, data),
    async reload({ api }, data) {
      const next = await readConfigFile(path, variables)
      requireUnchangedKeys(options, path, next.settings[0]?.input.requireApiKey !== false)
      return reapplyConfig(next, data, api)
    },
  }
}

/** Throws a problem if a reload would open the gateway to the network without API keys, which `start` also prevents. */
function requireUnchangedKeys({ host, open }: CliOptions, path: string, requiresKeys: boolean): void {
  if (requiresKeys || open || isLoopback(host)) return
  throw createProblem(
    `${path}: clients would no longer need an API key, and --host ${host} opens the gateway to the network.`,
  )
}

/** Creates the gateway. Problems with the configuration name its file. */
function createConfigured(path: string | undefined, options: GatewayOptions): Gateway {
  try {
    return createGateway(options)
  } catch (error) {
    return rethrowConfigProblem(path, error)
  }
}

function rethrowConfigProblem(path: string | undefined, error: unknown): never {
  if (path === undefined || !(error instanceof TypeError)) throw error
  throw createProblem(`${path}: ${error.message}`, { cause: error })
}

/** Calls the hooks of the command's log, then the config file's. */
function mergeHooks(hooks: Hooks = {}, { onUsage, onRequest }: Hooks): Hooks {
  return {
    ...hooks,
    onUsage(record) {
      onUsage?.(record)
      return hooks.onUsage?.(record)
    },
    onRequest(record) {
      onRequest?.(record)
      return hooks.onRequest?.(record)
    },
  }
}

/** Creates the metrics page. Throws a problem if the token can't protect it. */
async function openMetrics({ SIGNALBOX_METRICS_TOKEN: token }: Variables): Promise<GatewayObserver> {
  const { prometheus } = await import('../features/observe/prometheus.ts')
  try {
    return prometheus(token === undefined ? {} : { token })
  } catch (cause) {
    throw createProblem(
      'SIGNALBOX_METRICS_TOKEN must be at least 32 printable ASCII characters without spaces. Fix it, or unset it to use the admin token.',
      {
        cause,
      },
    )
  }
}

const createOpenProblem = (host: string) =>
  createProblem(
    `--host ${host} opens this gateway to the network, but clients need no API key: anyone who can reach it can spend your money. To require keys, start without --host, run "npx signalbox settings update --require-api-key" in another terminal, and restart. Or set "settings: { requireApiKey: true }" in a --config file. To leave it open on purpose, add --open.`,
  )

/**
 * Decrypts all other credentials once, so damage is found now instead of by a later request. Reports and keeps credentials that can't be decrypted,
 * so they can be replaced.
 */
async function checkCredentials(
  { api }: Gateway,
  logger: Logger,
): Promise<{ requireApiKey: boolean; isInUse: boolean }> {
  const { requireApiKey } = await api.settings.get()
  const { connections } = await api.connections.list()
  await Promise.all([api.combos.list(), api.customModels.list(), api.aliases.list()])
  for (const { name, id, error } of connections) if (error) logger.warn(`${name}: ${error}`, { id })
  return { requireApiKey, isInUse: connections.length > 0 }
}

/** Converts a startup error to a problem that explains what to do. */
export function toStartProblem(
  error: unknown,
  options: Pick<CliOptions, 'port' | 'host' | 'data'>,
  hasSecret: boolean,
): Problem {
  if (isProblem(error)) return error
  if (isGatewayError(error, 'SECRET_MISMATCH'))
    return createProblem(describeSecretMismatch(options.data, hasSecret), { cause: error })
  const storageError = findStorageError(error)
  if (storageError) return createProblem(toOneLine(storageError.message), { cause: error })
  if (isGatewayError(error))
    return createProblem(
      `Cannot open the data in ${options.data}. ${toOneLine(replaceCallsWithCommands(error.message))}`,
      {
        cause: error,
      },
    )
  return toListenProblem(error, options) ?? createProblem(`Could not start: ${describeError(error)}`, { cause: error })
}

/** Finds the storage's own error, which the gateway's error wraps. Its message names the file and explains what to do. */
function findStorageError(error: unknown): Error | undefined {
  for (let index = error; index instanceof Error; index = index.cause) if (index.name === 'StorageError') return index
  return undefined
}

function describeSecretMismatch(data: string, hasSecret: boolean): string {
  return hasSecret
    ? `SIGNALBOX_SECRET doesn't match the data in ${data}. Set it to the secret the data was encrypted with, or unset it if there was none.`
    : `The data in ${data} was encrypted with a different secret. Set SIGNALBOX_SECRET to the original one.`
}

function toListenProblem(error: unknown, { port, host }: Pick<CliOptions, 'port' | 'host'>): Problem | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const suggestedPort = port < 65_535 ? port + 1 : port - 1
  switch (error.code) {
    case 'EADDRINUSE':
      return createProblem(
        `Port ${port} on ${host} is already in use. Stop the other process, or choose another port: --port ${suggestedPort}`,
      )
    case 'EACCES':
      return createProblem(
        `You don't have permission to use port ${port}. Choose one from 1024 up, for example: --port 4000`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return createProblem(
        `"${host}" is not an address of this machine. Use --host 127.0.0.1, or --host 0.0.0.0 for all addresses.`,
      )
    case 'EAFNOSUPPORT':
      return createProblem(`This machine doesn't support the address family of "${host}". Use --host 127.0.0.1.`)
    default:
      return undefined
  }
}

/** Returns whether a server on this host can only be reached from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/**
 * Rejects if the address isn't available, as listening would. Call it before opening the data folder, so a failed start creates nothing and
 * prints only this error.
 */
export function requireFreePort({ port, host }: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, host, () => server.close(() => resolve()))
  })
}

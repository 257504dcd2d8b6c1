import type { Feature } from '../feature.ts'
import type { GatewayOptions } from '../options.ts'

/** Options that only the app or the CLI can set. */
type HostOptions =
  | ('storage' | 'secret' | 'management' | 'dashboard' | 'sharedState')
  | ('fetch' | 'clock' | 'logger' | 'basePath' | 'publicOrigin')

/**
 * A configuration in its own file, such as `signalbox.config.ts`: connections, combos, and the other sections, and the options that don't depend on
 * where the gateway runs.
 */
export interface GatewayConfig<Extend extends readonly Feature[] = readonly Feature[]>
  extends Omit<GatewayOptions<Extend>, HostOptions> {}

/**
 * Returns the configuration unchanged, with its type checked: `export default defineConfig({ … })` in `signalbox.config.ts`. Spread it into
 * `createGateway`'s options, or start `signalbox` in its folder.
 */
export const defineConfig = <const Extend extends readonly Feature[] = []>(
  config: GatewayConfig<Extend>,
): GatewayConfig<Extend> => config

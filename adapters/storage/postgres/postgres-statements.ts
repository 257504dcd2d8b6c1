/** The largest safe integer. */
const MAX = '9007199254740991'
const LIVE = 'r.value IS NOT NULL AND (r.expires_at IS NULL OR r.expires_at > clock_timestamp())'
const EXPIRY = `clock_timestamp() + $4::float8 * interval '1 millisecond'`
const SUM = `CASE WHEN r.value ~ '^-?[0-9]{1,16}$' THEN r.value::bigint + $2::bigint END`
/** The condition for a repeated write. The network may deliver a write twice; the second time, the row has its version. */
const REPEATED = 'r.version = excluded.version'
const ADDED = `value = CASE WHEN ${REPEATED} THEN r.value WHEN ${LIVE} THEN ${SUM}::text ELSE excluded.value END, expires_at = CASE WHEN ${REPEATED} OR ${LIVE} THEN r.expires_at ELSE excluded.expires_at END`
const TEXT = "'=' || value" // the prefix protects a byte order mark, which PGlite drops at the start of a string

/** Creates the statements for a table. Statements that change it also notify the listeners of the channel. */
export function createStatements(table: string, channel: string) {
  const notify = (change: string, columns = 'key') =>
    `WITH changed AS (${change} RETURNING ${columns}) SELECT ${columns}, pg_notify('${channel}', key) FROM changed`
  const update = (changes: string, where: string) =>
    notify(
      `UPDATE ${table} AS r SET version = $3, changed_at = clock_timestamp(), ${changes} WHERE r.key = $1 AND (r.version = $3 OR ${where} AND ${LIVE})`,
    )
  const insert = (value: string, onConflict: string, columns?: string) =>
    notify(
      `INSERT INTO ${table} AS r (key, value, version, expires_at, changed_at) VALUES ($1, ${value}, $3, ${EXPIRY}, clock_timestamp()) ON CONFLICT (key) DO UPDATE SET version = excluded.version, changed_at = excluded.changed_at, ${onConflict}`,
      columns,
    )
  const set = 'value = excluded.value, expires_at = excluded.expires_at'
  return {
    set: insert('$2', set),
    create: insert('$2', `${set} WHERE ${REPEATED} OR NOT (${LIVE})`),
    replace: update(`value = $2, expires_at = ${EXPIRY}`, 'r.version = $5'),
    delete: update('value = NULL, expires_at = NULL', '($2::text IS NULL OR r.version = $2)'),
    increment: insert(
      '$2::bigint::text',
      `${ADDED} WHERE ${REPEATED} OR NOT (${LIVE}) OR (abs(${SUM}) <= ${MAX} AND abs(${SUM} - $2::bigint) <= ${MAX})`,
      'key, value',
    ),
    get: `SELECT ${TEXT} AS value, version FROM ${table} AS r WHERE key = $1 AND ${LIVE}`,
    list: `SELECT key, ${TEXT} AS value, version FROM ${table} AS r WHERE key >= $1 AND key < $2 AND ($3::text IS NULL OR key > $3) AND ${LIVE} ORDER BY key LIMIT $4`,
    changed: `SELECT key, version, clock_timestamp()::text AS now FROM ${table} WHERE changed_at > greatest($1::timestamptz - interval '5 seconds', $2::timestamptz)`,
    sweep: `DELETE FROM ${table} AS r WHERE NOT (${LIVE}) AND coalesce(r.expires_at, r.changed_at) < clock_timestamp() - interval '1 hour'`,
  }
}

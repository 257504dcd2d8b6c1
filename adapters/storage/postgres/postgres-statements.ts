/** The largest safe integer. */
const MAX_SUM = '9007199254740991'
const IS_LIVE_SQL = 'r.value IS NOT NULL AND (r.expires_at IS NULL OR r.expires_at > clock_timestamp())'
const EXPIRY_SQL = `clock_timestamp() + $4::float8 * interval '1 millisecond'`
const SUM_SQL = `CASE WHEN r.value ~ '^-?[0-9]{1,16}$' THEN r.value::bigint + $2::bigint END`
/** The condition for a repeated write. The network may deliver a write twice; the second time, the row has its version. */
const IS_REPEATED_SQL = 'r.version = excluded.version'
const ADD_SQL = `value = CASE WHEN ${IS_REPEATED_SQL} THEN r.value WHEN ${IS_LIVE_SQL} THEN ${SUM_SQL}::text ELSE excluded.value END, expires_at = CASE WHEN ${IS_REPEATED_SQL} OR ${IS_LIVE_SQL} THEN r.expires_at ELSE excluded.expires_at END`
const TEXT = "'=' || value" // the prefix protects a byte order mark, which PGlite drops at the start of a string

/** Creates the statements for a table. Statements that change it also notify the channel's listeners. */
export function createStatements(table: string, channel: string) {
  const notify = (change: string, columns = 'key') =>
    `WITH changed AS (${change} RETURNING ${columns}) SELECT ${columns}, pg_notify('${channel}', key) FROM changed`
  const update = (changes: string, where: string) =>
    notify(
      `UPDATE ${table} AS r SET version = $3, changed_at = clock_timestamp(), ${changes} WHERE r.key = $1 AND (r.version = $3 OR ${where} AND ${IS_LIVE_SQL})`,
    )
  const insert = (value: string, onConflict: string, columns?: string) =>
    notify(
      `INSERT INTO ${table} AS r (key, value, version, expires_at, changed_at) VALUES ($1, ${value}, $3, ${EXPIRY_SQL}, clock_timestamp()) ON CONFLICT (key) DO UPDATE SET version = excluded.version, changed_at = excluded.changed_at, ${onConflict}`,
      columns,
    )
  const select = (condition: string) =>
    `SELECT key, ${TEXT} AS value, version FROM ${table} AS r WHERE ${IS_LIVE_SQL} AND key ${condition}`
  const set = 'value = excluded.value, expires_at = excluded.expires_at'
  return {
    set: insert('$2', set),
    create: insert('$2', `${set} WHERE ${IS_REPEATED_SQL} OR NOT (${IS_LIVE_SQL})`),
    replace: update(`value = $2, expires_at = ${EXPIRY_SQL}`, 'r.version = $5'),
    delete: update('value = NULL, expires_at = NULL', '($2::text IS NULL OR r.version = $2)'),
    increment: insert(
      '$2::bigint::text',
      `${ADD_SQL} WHERE ${IS_REPEATED_SQL} OR NOT (${IS_LIVE_SQL}) OR (abs(${SUM_SQL}) <= ${MAX_SUM} AND abs(${SUM_SQL} - $2::bigint) <= ${MAX_SUM})`,
      'key, value',
    ),
    get: select('= $1'),
    getLinked: select(
      `= ANY (ARRAY(SELECT $1 UNION ALL SELECT unnest(string_to_array(value, chr(10))) FROM ${table} WHERE key = $1 LIMIT 33))`,
    ),
    list: select('>= $1 AND key < $2 AND ($3::text IS NULL OR key > $3) ORDER BY key LIMIT $4'),
    changed: `SELECT key, version, clock_timestamp()::text AS now FROM ${table} WHERE changed_at > greatest($1::timestamptz - interval '5 seconds', $2::timestamptz)`,
    sweep: `DELETE FROM ${table} AS r WHERE NOT (${IS_LIVE_SQL}) AND coalesce(r.expires_at, r.changed_at) < clock_timestamp() - interval '1 hour'`,
  }
}

import type { Session } from '../session/session.ts';
import type { StoreAddress } from '../session/store-address.ts';

/** Versions count in ten-thousands: 14 is the oldest that PostgreSQL still mends. */
const VERSION_MIN = 140_000;

/** Without these a crash of the machine loses or damages what was acknowledged. */
const REQUIRED = ['fsync', 'full_page_writes'];

/** Acknowledged tasks would not be safe in this database. */
export class StoreSettingsError extends Error {
  override readonly name = 'StoreSettingsError';

  constructor(address: StoreAddress, problems: readonly string[]) {
    super(`${address.shown} cannot keep what Sluice promises: ${problems.join('; ')}`);
  }
}

/** Rejects with a `StoreSettingsError` that names everything that has to change. */
export async function checkSettings(session: Session, address: StoreAddress): Promise<void> {
  const problems = await settingsProblems(session);
  if (problems.length > 0) throw new StoreSettingsError(address, problems);
}

/** What has to change before acknowledged tasks are safe in this database. */
export async function settingsProblems(session: Session): Promise<string[]> {
  const { rows } = await session.query<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY($1)',
    [['server_version_num', ...REQUIRED]],
  );
  return problemsOf(new Map(rows.map(({ name, setting }) => [name, setting])));
}

/** What a crash of the database, or a failover, can take. */
export interface StoreDurability {
  /** Nothing acknowledged is lost when the machine of the database is, and when not. */
  readonly kind: 'synchronous' | 'single';
  readonly version: string;
  readonly synchronousStandbys: string;
}

export async function readDurability(session: Session): Promise<StoreDurability> {
  const { rows } = await session.query<{ version: string; standbys: string }>(
    `SELECT current_setting('server_version') AS version,
      current_setting('synchronous_standby_names') AS standbys`,
  );
  const [{ version, standbys }] = rows;
  const kind = standbys === '' ? 'single' : 'synchronous';
  return { kind, version, synchronousStandbys: standbys };
}

/** What has to change, in words. */
export function problemsOf(settings: ReadonlyMap<string, string>): string[] {
  const problems = REQUIRED.filter((name) => settings.get(name) !== 'on').map(
    (name) => `'${name}' is off, set it to on`,
  );
  const version = Number(settings.get('server_version_num'));
  if (version >= VERSION_MIN) return problems;
  const found = Math.floor(version / 10_000);
  return [...problems, `it is PostgreSQL ${found}, use ${VERSION_MIN / 10_000} or newer`];
}

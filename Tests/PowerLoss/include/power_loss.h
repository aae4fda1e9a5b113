// A layer below SQLite that forgets writes which were not synced, as a power failure does. Only for tests.
#pragma once

/// Makes all databases opened from now on use the layer. Their files work as usual; a second copy of each, in `folder`,
/// gets the writes only when they are synced. Its name is that of the directory and the file, joined by a hyphen.
///
/// Returns 0, or a result code of SQLite.
int power_loss_install(const char *folder);

/// Cuts the power after `operations` more writes, truncations and syncs: writes a random part of the unsynced changes,
/// in sectors of 512 bytes, to the copies, and kills the process with SIGKILL.
void power_loss_after(int operations, unsigned seed);
